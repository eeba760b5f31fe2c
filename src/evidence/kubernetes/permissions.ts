import { configMapNames, type ReadableResource, resources } from '../../triage/resources.ts';

/** One right that triage makes use of, in RBAC's words. */
export interface Permission {
  verb: 'get' | 'list';
  group: string;
  /** Plural resource. */
  resource: string;
  subresource?: 'log';
  /** The only object of that resource. */
  name?: string;
  /** The only namespace; absent: all of them, or a cluster-scoped resource. */
  namespace?: string;
  scope: ReadableResource['scope'];
}

/** Paths outside of any resource that triage reads. */
export const healthPaths = ['/livez', '/readyz'] as const;

/** The exact rights that triage makes use of; what `deploy/` grants and `doctor` checks. */
export function permissions(): Permission[] {
  const readable = Object.values<ReadableResource>(resources).flatMap(({ group, plural, scope }): Permission[] => {
    const right = { group, resource: plural, scope };
    if (right.resource !== 'configmaps')
      return [
        { ...right, verb: 'get' },
        { ...right, verb: 'list' },
      ];
    return configMapNames.map((name) => ({ ...right, verb: 'get', name, namespace: 'kube-system' }));
  });
  return [...readable, { verb: 'get', group: '', resource: 'pods', subresource: 'log', scope: 'namespace' }];
}

/** `list events in all namespaces`, `get configmaps coredns in kube-system`, `get pods/log in all namespaces` */
export function describePermission(permission: Permission): string {
  const { verb, group, resource, subresource, name, namespace, scope } = permission;
  const qualified = resource + (subresource ? `/${subresource}` : '') + (group ? `.${group}` : '');
  const place = namespace ? ` in ${namespace}` : scope === 'namespace' ? ' in all namespaces' : '';
  return `${verb} ${qualified}${name ? ` ${name}` : ''}${place}`;
}
