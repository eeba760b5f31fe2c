import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';

/** Events about the pods of a workload, also those that no longer exist: by the names their controller gives. */
export const podEventsOf = (facts: ClusterFacts, workload: KubeObject, reason: RegExp): KubeEvent[] => {
  const makers = [workload, ...facts.childrenOf(workload).filter((child) => child.kind === 'ReplicaSet')];
  const isOwn = (name: string): boolean =>
    makers.some(
      (maker) =>
        name.startsWith(`${maker.metadata.name}-`) && !name.slice(maker.metadata.name.length + 1).includes('-'),
    );
  return facts.events.filter(
    (event) =>
      event.regarding.kind === 'Pod' &&
      event.namespace === workload.metadata.namespace &&
      reason.test(event.reason) &&
      isOwn(event.regarding.name),
  );
};
