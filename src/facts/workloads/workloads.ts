import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { podSpecOf } from '../pods.ts';
import { minutesBetween } from '../time.ts';

/** A Deployment's change of pod template, as its ReplicaSets tell it. */
export interface Rollout {
  /** When the current ReplicaSet was created. */
  at: string;
  current: KubeObject;
  previous?: KubeObject;
}

const revision = (set: KubeObject): number =>
  Number(set.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);

/** ReplicaSets of a Deployment, the newest revision first. */
export const revisionsOf = (facts: ClusterFacts, workload: KubeObject): KubeObject[] =>
  facts
    .childrenOf(workload)
    .filter((child) => child.kind === 'ReplicaSet')
    .sort(
      (a, b) =>
        revision(b) - revision(a) ||
        (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
    );

export const rolloutOf = (facts: ClusterFacts, workload: KubeObject): Rollout | undefined => {
  const [current, previous] = revisionsOf(facts, workload);
  const at = current?.metadata.creationTimestamp;
  return current && at ? { at, current, previous } : undefined;
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

/** What differs between two templates, in words: images, environment, resources, probes, service account. */
export const templateChanges = (before: KubeObject, after: KubeObject): string[] => {
  const [old, now] = [podSpecOf(before), podSpecOf(after)];
  const changes: string[] = [];
  const differ = (what: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) !== JSON.stringify(b)) changes.push(`${what} ${show(a)} → ${show(b)}`);
  };
  for (const container of now.containers ?? []) {
    const former = (old.containers ?? []).find((entry: any) => entry.name === container.name);
    if (!former) continue;
    differ('image', former.image, container.image);
    const names = new Set<string>([...(former.env ?? []), ...(container.env ?? [])].map((entry: any) => entry.name));
    for (const name of names) differ(`env ${name}`, envOf(former, name), envOf(container, name));
    differ('command', former.command, container.command);
    differ('args', former.args, container.args);
    differ('ports', portsOf(former), portsOf(container));
    differ('resources', former.resources, container.resources);
    differ('command', former.command, container.command);
    differ('args', former.args, container.args);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      differ(probe, former[probe], container[probe]);
  }
  differ('serviceAccountName', old.serviceAccountName ?? 'default', now.serviceAccountName ?? 'default');
  return changes;
};

const portsOf = (container: any): string =>
  (container.ports ?? []).map((port: any) => `${port.name ?? ''}:${port.containerPort}`).join(' ') || 'none';

/** Plain value of an environment variable; where it comes from a reference, the reference. */
export const envOf = (container: any, name: string): string | undefined => {
  const entry = (container?.env ?? []).find((candidate: any) => candidate.name === name);
  return entry ? (entry.value ?? JSON.stringify(entry.valueFrom ?? '')) : undefined;
};

export const imageOf = (object: KubeObject): string =>
  (podSpecOf(object).containers ?? []).map((container: any) => container.image).join(', ');

const show = (value: unknown): string =>
  value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);

/** A workload, its pods and the Services in front of them: whom its trouble reaches. */
export const servedBy = (facts: ClusterFacts, workload: KubeObject): KubeObject[] => {
  const pods = facts.podsOf(workload);
  return [workload, ...pods, ...pods.slice(0, 1).flatMap((pod) => facts.servicesOf(pod))];
};
