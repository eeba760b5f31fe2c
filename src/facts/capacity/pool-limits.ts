import type { KubeObject } from '../../domain/kubernetes.ts';
import { smallestOf } from '../nodes/instance-types.ts';
import { quantity } from '../quantity.ts';

export interface FullResource {
  resource: string;
  used: string;
  limit: string;
}

/** Below this share of its limit a pool whose types are not listed can surely take another node. */
const fullShare = 0.8;

/** The resource whose limit leaves no room for the pool's smallest machine; undefined where there is room. */
export const fullResource = (pool: KubeObject): FullResource | undefined => {
  const smallest = smallestOf(pool);
  return Object.entries<string>(pool.spec?.limits ?? {})
    .map(([resource, limit]) => ({
      resource,
      limit: String(limit),
      used: String(pool.status?.resources?.[resource] ?? ''),
    }))
    .find(({ resource, used, limit }) => {
      const step =
        resource === 'cpu' || resource === 'memory' ? smallest?.[resource] : resource === 'nodes' ? 1 : undefined;
      return step === undefined
        ? quantity(used) >= fullShare * quantity(limit)
        : quantity(used) + 0.95 * step > quantity(limit);
    });
};
