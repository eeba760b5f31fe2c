import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { podSpecOf } from '../pods.ts';
import { minutesBetween } from '../time.ts';
import { lastWriter } from '../writers.ts';

/** A workload's change of pod template, as its ReplicaSets or ControllerRevisions tell it. */
export interface Rollout {
  /** When the current revision came into use. */
  at: string;
  current: KubeObject;
  previous?: KubeObject;
}

const revision = (object: KubeObject): number =>
  Number(object.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? object.revision ?? 0);
const created = (object: KubeObject): string => object.metadata.creationTimestamp ?? '';

/** ReplicaSets of a Deployment, ControllerRevisions of a StatefulSet or DaemonSet, the newest revision first. */
export const revisionsOf = (facts: ClusterFacts, workload: KubeObject): KubeObject[] =>
  facts
    .childrenOf(workload)
    .filter((child) => child.kind === 'ReplicaSet' || child.kind === 'ControllerRevision')
    .sort((a, b) => revision(b) - revision(a) || created(b).localeCompare(created(a)));

/** Going back to a former revision makes no new one: it takes a new number, and the workload's last write tells when. */
export const rolloutOf = (facts: ClusterFacts, workload: KubeObject): Rollout | undefined => {
  const [current, previous] = revisionsOf(facts, workload);
  const wentBack = current && previous && created(current) < created(previous);
  const at = (wentBack && lastWriter(workload, 'f:template')?.time) || current?.metadata.creationTimestamp;
  return current && at ? { at, current, previous } : undefined;
};

/** Pods that were made from a revision. */
export const podsOfRevision = (facts: ClusterFacts, revision: KubeObject): KubeObject[] => {
  if (revision.kind !== 'ControllerRevision') return facts.childrenOf(revision).filter((child) => child.kind === 'Pod');
  const workload = facts.ownerOf(revision);
  // A StatefulSet's pods bear the revision's name, a DaemonSet's its hash alone.
  const isOf = (hash: string | undefined): boolean =>
    hash !== undefined &&
    (hash === revision.metadata.name || `${workload?.metadata.name}-${hash}` === revision.metadata.name);
  return workload
    ? facts.podsOf(workload).filter((pod) => isOf(pod.metadata.labels?.['controller-revision-hash']))
    : [];
};

/** The rollout, where it has a predecessor and began at most so many minutes before the time (usually an onset). */
export const rolloutBefore = (
  facts: ClusterFacts,
  workload: KubeObject,
  time: string,
  withinMinutes: number,
): Rollout | undefined => {
  const rollout = rolloutOf(facts, workload);
  if (!rollout?.previous) return undefined;
  const age = minutesBetween(rollout.at, time);
  return age >= -10 && age <= withinMinutes ? rollout : undefined;
};

/** The template's pod spec that made this pod: its ReplicaSet's, DaemonSet's, StatefulSet's or Job's. */
export const templateSpecOf = (facts: ClusterFacts, pod: KubeObject): any => {
  for (const link of facts.ownerChain(pod).slice(1)) {
    const spec = podSpecOf(link);
    if (spec.containers) return spec;
  }
  return undefined;
};

/** True where the pod's template is known and lacks this container: something injected it at admission. */
export const isInjected = (facts: ClusterFacts, pod: KubeObject, container: string): boolean => {
  const spec = templateSpecOf(facts, pod);
  return (
    spec !== undefined &&
    ![...(spec.initContainers ?? []), ...(spec.containers ?? [])].some((entry: any) => entry.name === container)
  );
};

export const containerOf = (object: KubeObject, name: string): any => {
  const spec = podSpecOf(object);
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].find((entry: any) => entry.name === name);
};

/** Path of a container's field below an object, for evidence: `spec.template.spec.containers[1].image`. */
export const containerPath = (object: KubeObject, name: string, field: string): string => {
  const prefix =
    object.kind === 'Pod'
      ? 'spec'
      : object.kind === 'CronJob'
        ? 'spec.jobTemplate.spec.template.spec'
        : 'spec.template.spec';
  const spec = podSpecOf(object);
  const index = (spec.containers ?? []).findIndex((entry: any) => entry.name === name);
  return index >= 0
    ? `${prefix}.containers[${index}].${field}`
    : `${prefix}.initContainers[${(spec.initContainers ?? []).findIndex((entry: any) => entry.name === name)}].${field}`;
};

/** Plain value of an environment variable; where it comes from a reference, the reference. */
export const envOf = (container: any, name: string): string | undefined => {
  const entry = (container?.env ?? []).find((candidate: any) => candidate.name === name);
  return entry ? (entry.value ?? JSON.stringify(entry.valueFrom ?? '')) : undefined;
};

export const imageOf = (object: KubeObject): string =>
  (podSpecOf(object).containers ?? []).map((container: any) => container.image).join(', ');

/** A workload, its pods and the Services in front of them: whom its trouble reaches. */
export const servedBy = (facts: ClusterFacts, workload: KubeObject): KubeObject[] => {
  const pods = facts.podsOf(workload);
  return [workload, ...pods, ...pods.slice(0, 1).flatMap((pod) => facts.servicesOf(pod))];
};
