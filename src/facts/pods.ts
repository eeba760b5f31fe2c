import type { KubeObject } from '../domain/kubernetes.ts';
import { condition, isTrue } from './conditions.ts';

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  restartCount?: number;
  image?: string;
  imageID?: string;
  state?: { waiting?: any; running?: any; terminated?: any };
  lastState?: { waiting?: any; running?: any; terminated?: any };
}

export const containerStatuses = (pod: KubeObject): ContainerStatus[] => [
  ...(pod.status?.initContainerStatuses ?? []),
  ...(pod.status?.containerStatuses ?? []),
];

export const containersOf = (pod: KubeObject): any[] => [
  ...(pod.spec?.initContainers ?? []),
  ...(pod.spec?.containers ?? []),
];

/** The pod template's or pod's own spec: works for Pod, Deployment, ReplicaSet, Job and CronJob alike. */
export const podSpecOf = (object: KubeObject): any =>
  object.kind === 'Pod'
    ? (object.spec ?? {})
    : (object.spec?.template?.spec ?? object.spec?.jobTemplate?.spec?.template?.spec ?? {});

export const isPending = (pod: KubeObject): boolean => pod.status?.phase === 'Pending';
export const isBound = (pod: KubeObject): boolean => Boolean(pod.spec?.nodeName);
export const isFinished = (pod: KubeObject): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
export const isReady = (pod: KubeObject): boolean => isTrue(pod, 'Ready');
export const isTerminating = (pod: KubeObject): boolean => Boolean(pod.metadata.deletionTimestamp);

/** Not bound and refused by the scheduler (or not yet looked at by any scheduler). */
export const isUnscheduled = (pod: KubeObject): boolean => isPending(pod) && !isBound(pod);

/** Why the scheduler refused: the condition is never truncated, the event is (1,024 bytes). */
export const unschedulableMessage = (pod: KubeObject): string => {
  const scheduled = condition(pod, 'PodScheduled');
  return scheduled?.status === 'False' ? (scheduled.message ?? '') : '';
};

export const waitingReason = (pod: KubeObject): string | undefined =>
  containerStatuses(pod).find((status) => status.state?.waiting?.reason)?.state?.waiting?.reason;

export const restarts = (pod: KubeObject): number =>
  containerStatuses(pod).reduce((sum, status) => sum + (status.restartCount ?? 0), 0);

/** Last known termination of each container: the current one if it is down, else the former one. */
export const terminations = (pod: KubeObject): { container: string; terminated: any; restartCount: number }[] =>
  containerStatuses(pod).flatMap((status) => {
    const terminated = status.state?.terminated ?? status.lastState?.terminated;
    return terminated ? [{ container: status.name, terminated, restartCount: status.restartCount ?? 0 }] : [];
  });

/** A pod that is not what its owner wants: pending, unready, failing, restarting or stuck terminating. */
export const isTroubled = (pod: KubeObject): boolean => {
  if (pod.status?.phase === 'Succeeded') return false;
  return (
    !isReady(pod) || isTerminating(pod) || containerStatuses(pod).some((status) => (status.restartCount ?? 0) >= 3)
  );
};
