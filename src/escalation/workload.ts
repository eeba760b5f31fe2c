import { describeRef, type KubeObject, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import type { ClusterFacts } from '../facts/cluster.ts';

export interface ContainerState {
  name: string;
  image: string;
  requests: string;
  limits: string;
  restarts: number;
  /** `waiting CrashLoopBackOff`, `running`. */
  state: string;
  /** `OOMKilled, exit 137 at 2026-…`; empty when it never ended. */
  lastExit: string;
}

export interface Rollout {
  revision: string;
  at: string;
  cause: string;
  /** Container images before and after, where they differ. */
  change: string;
}

export interface LogExcerpt {
  from: string;
  text: string;
}

export interface Workload {
  object: string;
  uid: string;
  /** `3 of 5 ready`. */
  replicas: string;
  pods: number;
  containers: ContainerState[];
  rollouts: Rollout[];
  logs: LogExcerpt[];
}

const logLines = 12;
const maxRollouts = 3;

/** The workload at the root of an app verdict as its team will want to see it; null where the root is no workload. */
export const workloadOf = (facts: ClusterFacts, root: ObjectRef): Workload | null => {
  const object = facts.resolve(root);
  if (!object || object.kind === 'Namespace') return null;
  const outer = facts.workloadOf(object);
  const pods = object.kind === 'Pod' ? [object] : facts.podsOf(outer);
  const worst = [...pods].sort((a, b) => restartsOf(b) - restartsOf(a) || compare(a, b))[0];
  return {
    object: describeRef(refOf(outer)),
    uid: outer.metadata.uid ?? '',
    replicas: replicasOf(outer),
    pods: facts.podsOf(outer).length,
    containers: worst ? containersOf(worst) : templateContainers(outer),
    rollouts: rolloutsOf(facts, outer),
    logs: pods.flatMap((pod) => excerpts(facts, pod)).slice(0, 2),
  };
};

const compare = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

const restartsOf = (pod: KubeObject): number =>
  (pod.status?.containerStatuses ?? []).reduce((sum: number, status: any) => sum + (status.restartCount ?? 0), 0);

const replicasOf = ({ spec, status }: KubeObject): string =>
  spec?.replicas === undefined ? '' : `${status?.readyReplicas ?? 0} of ${spec.replicas} ready`;

const amounts = (resources: Record<string, string> | undefined): string =>
  Object.entries(resources ?? {})
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');

const containersOf = (pod: KubeObject): ContainerState[] =>
  (pod.spec?.containers ?? []).map((container: any) => {
    const status = pod.status?.containerStatuses?.find((entry: any) => entry.name === container.name);
    const [state, detail] = Object.entries<any>(status?.state ?? {})[0] ?? [];
    const ended = status?.lastState?.terminated ?? (state === 'terminated' ? detail : undefined);
    return {
      ...describeContainer(container),
      restarts: status?.restartCount ?? 0,
      state: [state, detail?.reason].filter(Boolean).join(' '),
      lastExit: ended ? `${ended.reason ?? 'ended'}, exit ${ended.exitCode} at ${ended.finishedAt ?? 'unknown'}` : '',
    };
  });

const templateContainers = (workload: KubeObject): ContainerState[] =>
  (workload.spec?.template?.spec?.containers ?? []).map((container: any) => ({
    ...describeContainer(container),
    restarts: 0,
    state: 'no pod',
    lastExit: '',
  }));

const describeContainer = (container: any): Pick<ContainerState, 'name' | 'image' | 'requests' | 'limits'> => ({
  name: container.name ?? '',
  image: container.image ?? '',
  requests: amounts(container.resources?.requests),
  limits: amounts(container.resources?.limits),
});

const revisionOf = (replicaSet: KubeObject): number =>
  Number(replicaSet.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);

const imagesOf = (replicaSet: KubeObject | undefined): string =>
  (replicaSet?.spec?.template?.spec?.containers ?? []).map((container: any) => container.image ?? '').join(', ');

/** The latest revisions, newest first. */
const rolloutsOf = (facts: ClusterFacts, workload: KubeObject): Rollout[] => {
  const sets = facts
    .childrenOf(workload)
    .filter(({ kind }) => kind === 'ReplicaSet')
    .sort((a, b) => revisionOf(b) - revisionOf(a) || compare(a, b));
  return sets.slice(0, maxRollouts).map((set, index) => {
    const [before, after] = [imagesOf(sets[index + 1]), imagesOf(set)];
    return {
      revision: String(revisionOf(set) || set.metadata.name),
      at: set.metadata.creationTimestamp ?? '',
      cause: set.metadata.annotations?.['kubernetes.io/change-cause'] ?? '',
      change: before && before !== after ? `${before} → ${after}` : after,
    };
  });
};

/** The end of each log: where a process says why it stops. */
const excerpts = (facts: ClusterFacts, pod: KubeObject): LogExcerpt[] =>
  facts.logsOf(pod).map(({ namespace, pod: name, container, previous, text }) => ({
    from: `${namespace}/${name}, container ${container}${previous ? ', before the restart' : ''}`,
    text: text.trimEnd().split('\n').slice(-logLines).join('\n'),
  }));
