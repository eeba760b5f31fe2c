import type { Resource } from '../../triage/ports.ts';

/**
 * Whether a name can be part of a request's path at all (apimachinery's path segment names). Names come from
 * alert labels too: `..` must not turn a read of pods into a read of something else.
 */
export const isPathSegment = (name: string): boolean => /^[^/%?#\s]+$/.test(name) && name !== '.' && name !== '..';

const groupPath = (resource: Pick<Resource, 'group'>): string => (resource.group ? `/apis/${resource.group}` : '/api');

export interface PathParts {
  namespace?: string | undefined;
  name?: string;
  subresource?: 'log';
  query?: Record<string, string | number | undefined>;
}

/** `/apis/apps/v1/namespaces/shop/deployments/web?…` */
export function pathOf(resource: Resource, { namespace, name, subresource, query = {} }: PathParts): string {
  const segments = [
    `${groupPath(resource)}/${resource.version}`,
    ...(namespace ? ['namespaces', encodeURIComponent(namespace)] : []),
    resource.plural,
    ...(name ? [encodeURIComponent(name)] : []),
    ...(subresource ? [subresource] : []),
  ];
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
  return segments.join('/') + (parameters.size > 0 ? `?${parameters}` : '');
}
