import { type ReadableResource, resources } from '../../triage/resources.ts';

/** One right that triage makes use of, in RBAC's words. */
export interface Permission {
  verb: 'get' | 'list';
  group: string;
  /** Plural resource. */
  resource: string;
  subresource?: 'log';
  scope: ReadableResource['scope'];
}

/** Paths outside of any resource that triage reads. */
export const healthPaths = ['/livez', '/readyz'] as const;

/** The exact rights that triage makes use of; what `deploy/` grants and `doctor` checks. */
export function permissions(): Permission[] {
  const readable = Object.values<ReadableResource>(resources).flatMap(({ group, plural, scope }): Permission[] => {
    const right = { group, resource: plural, scope };
    const one: Permission = { ...right, verb: 'get' };
    // ConfigMaps are asked for by name, so that no list of them is ever needed.
    return plural === 'configmaps' ? [one] : [one, { ...right, verb: 'list' }];
  });
  return [...readable, { verb: 'get', group: '', resource: 'pods', subresource: 'log', scope: 'namespace' }];
}

/** `list events in all namespaces`, `get nodes`, `get pods/log in all namespaces` */
export function describePermission(permission: Permission): string {
  const { verb, group, resource, subresource, scope } = permission;
  const qualified = resource + (subresource ? `/${subresource}` : '') + (group ? `.${group}` : '');
  return `${verb} ${qualified}${scope === 'namespace' ? ' in all namespaces' : ''}`;
}
