import type { KubeObject } from '../../domain/kubernetes.ts';
import { podSpecOf } from '../pods.ts';
import { quantity } from '../quantity.ts';

/** Sum of what a pod template's containers request of a resource, or the largest plain init container if that is more. */
export const requestOf = (workload: KubeObject, resource: string): number => {
  const spec = podSpecOf(workload);
  const of = (container: any): number =>
    quantity(container.resources?.requests?.[resource] ?? container.resources?.limits?.[resource]) || 0;
  const inits: any[] = spec?.initContainers ?? [];
  const sidecars = inits.filter((container) => container.restartPolicy === 'Always');
  const sum = [...(spec?.containers ?? []), ...sidecars].reduce(
    (total: number, container: any) => total + of(container),
    0,
  );
  return Math.max(sum, ...inits.filter((container) => container.restartPolicy !== 'Always').map(of));
};

/** Every resource that a pod template requests. */
export const requestedResources = (workload: KubeObject): string[] => [
  ...new Set(
    [...(podSpecOf(workload)?.containers ?? []), ...(podSpecOf(workload)?.initContainers ?? [])].flatMap(
      (container: any) => [
        ...Object.keys(container.resources?.requests ?? {}),
        ...Object.keys(container.resources?.limits ?? {}),
      ],
    ),
  ),
];

/** `640Gi`, `2`, `250m`: an amount as people write it. */
export const amount = (resource: string, value: number): string => {
  if (!/memory|storage|hugepages/.test(resource))
    return value > 0 && value < 1 ? `${Math.round(value * 1000)}m` : String(Math.round(value * 100) / 100);
  return value >= 2 ** 30 ? `${Math.round((value / 2 ** 30) * 10) / 10}Gi` : `${Math.round(value / 2 ** 20)}Mi`;
};
