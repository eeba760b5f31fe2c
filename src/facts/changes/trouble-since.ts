import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import { containerStatuses, isReady, restarts } from '../pods.ts';
import { earliest } from '../time.ts';

const complaint = /^(Unhealthy|BackOff|Failed|FailedMount|FailedCreatePodSandBox|Killing|FailedPostStartHook)$/;

/** The earliest sign that a pod is not what its owner wants, of those that are left; undefined for one that is well. */
export const troubledSince = (facts: ClusterFacts, pod: KubeObject): string | undefined => {
  if (pod.status?.phase === 'Succeeded') return undefined;
  if (isReady(pod) && restarts(pod) === 0) return undefined;
  const ready = condition(pod, 'Ready');
  return earliest(
    ready?.status === 'False' ? ready.lastTransitionTime : undefined,
    ...containerStatuses(pod).map(
      (status) => status.lastState?.terminated?.finishedAt ?? status.state?.terminated?.finishedAt,
    ),
    ...facts
      .eventsAbout(pod)
      .filter((event) => event.type === 'Warning' && complaint.test(event.reason))
      .map((event) => event.firstAt),
  );
};
