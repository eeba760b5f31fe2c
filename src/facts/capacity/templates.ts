import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import { latest } from '../time.ts';
import { lastWrite } from './pools.ts';

/** The pod template a workload uses now, when it came into use, and the one before it. */
export interface TemplateHistory {
  current: KubeObject;
  /** ISO time; the workload's creation where nothing newer is known. */
  since: string;
  previous?: KubeObject;
  /** The workload itself is no older than its current template. */
  first: boolean;
}

const revision = (object: KubeObject): number =>
  Number(object.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);

/** From ReplicaSets for a Deployment; other kinds keep no template, so only their last write tells. */
export const templateHistory = (facts: ClusterFacts, workload: KubeObject): TemplateHistory => {
  const sets = facts
    .childrenOf(workload)
    .filter((child) => child.kind === 'ReplicaSet')
    .sort((a, b) => revision(b) - revision(a) || (created(a) < created(b) ? 1 : -1));
  const [current, previous] = sets;
  if (current)
    return {
      current,
      since: created(current),
      previous,
      first: previous === undefined && sameMoment(workload, current),
    };
  const write = lastWrite(workload);
  const since = latest(workload.metadata.creationTimestamp, write?.time) ?? '';
  return { current: workload, since, first: since === workload.metadata.creationTimestamp };
};

const created = (object: KubeObject): string => object.metadata.creationTimestamp ?? '';

/** A first revision is made in the seconds after its Deployment. */
const sameMoment = (workload: KubeObject, set: KubeObject): boolean =>
  Math.abs(Date.parse(created(set)) - Date.parse(created(workload))) < 10 * 60_000;

/** The workload once ran with this template: its rollout completed, or its schedule has succeeded since. */
export const hasRun = (workload: KubeObject, since: string): boolean => {
  const completed = condition(workload, 'Progressing')?.reason === 'NewReplicaSetAvailable';
  const succeeded = (workload.status?.lastSuccessfulTime ?? '') > since;
  const { currentRevision, updateRevision } = workload.status ?? {};
  return completed || succeeded || (currentRevision !== undefined && currentRevision === updateRevision);
};
