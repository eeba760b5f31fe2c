import { readFile } from 'node:fs/promises';
import { type Alert, describeSubject, type Subject } from '../domain/alert.ts';
import type { ClusterIdentity, LayerFacts } from '../domain/facts.ts';
import { parsePayload } from '../intake/payload.ts';
import { resolveSubject } from '../intake/subject.ts';
import type { CollectionTarget } from '../triage/collect/collection.ts';
import { OperatorError } from './operator-error.ts';

/** kubectl's names of the kinds one can triage, singular, plural and short. */
const kinds: Record<string, string[]> = {
  Pod: ['pod', 'pods', 'po'],
  Deployment: ['deployment', 'deployments', 'deploy'],
  StatefulSet: ['statefulset', 'statefulsets', 'sts'],
  DaemonSet: ['daemonset', 'daemonsets', 'ds'],
  ReplicaSet: ['replicaset', 'replicasets', 'rs'],
  Job: ['job', 'jobs'],
  CronJob: ['cronjob', 'cronjobs', 'cj'],
  Service: ['service', 'services', 'svc'],
  Ingress: ['ingress', 'ingresses', 'ing'],
  PersistentVolumeClaim: ['persistentvolumeclaim', 'persistentvolumeclaims', 'pvc'],
  HorizontalPodAutoscaler: ['horizontalpodautoscaler', 'horizontalpodautoscalers', 'hpa'],
  PodDisruptionBudget: ['poddisruptionbudget', 'poddisruptionbudgets', 'pdb'],
  ResourceQuota: ['resourcequota', 'resourcequotas', 'quota'],
  Node: ['node', 'nodes', 'no'],
  NodePool: ['nodepool', 'nodepools'],
  NodeClaim: ['nodeclaim', 'nodeclaims'],
  Namespace: ['namespace', 'namespaces', 'ns'],
  Cluster: ['cluster'],
};

const clusterScoped = ['Node', 'NodePool', 'NodeClaim', 'Namespace', 'Cluster'];

/** `deployment/web` as a person types it. Throws OperatorError where it names no known kind or lacks its namespace. */
export const parseObject = (object: string, namespace: string | undefined, cluster: string): Subject => {
  const [typed = '', name] = object.split('/');
  const kind = Object.keys(kinds).find((known) => kinds[known]?.includes(typed.toLowerCase()));
  if (!kind)
    throw new OperatorError(
      `cannot triage "${object}": use <kind/name> with a kind of ${Object.values(kinds)
        .map(([first]) => first)
        .join(', ')}`,
    );
  if (kind === 'Cluster') return { cluster, kind };
  if (!name) throw new OperatorError(`"${object}" has no name: write ${typed}/<name>`);
  if (clusterScoped.includes(kind))
    return { cluster, kind, name, ...(kind === 'Namespace' ? { namespace: name } : {}) };
  if (!namespace) throw new OperatorError(`${object} lies in a namespace: add -n <namespace>`);
  return { cluster, kind, name, namespace };
};

export const objectTarget = (
  object: string,
  namespace: string | undefined,
  cluster: ClusterIdentity,
): CollectionTarget => ({
  cluster,
  subjects: [parseObject(object, namespace, cluster.name)],
  alerts: [],
});

/**
 * Throws OperatorError where a named object is not there although its kind was read: most likely its name is misspelt.
 * The error names what the kind holds there.
 */
export const refuseAbsent = ({ cluster, subjects: [subject] }: CollectionTarget, facts: LayerFacts[]): void => {
  const [, plural] = (subject && kinds[subject.kind]) ?? [];
  if (!subject?.name || !plural) return;
  const reads = facts.flatMap((batch) => batch.reads).filter((read) => read.what === plural);
  if (reads.length === 0 || reads.some((read) => read.gap)) return;
  const sameKind = facts
    .flatMap((batch) => batch.objects)
    .filter((object) => object.kind === subject.kind && object.metadata.namespace === namespaceOf(subject));
  const names = [...new Set(sameKind.map((object) => object.metadata.name))].sort();
  if (names.includes(subject.name)) return;
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  throw new OperatorError(
    `${describeSubject(subject)} was not found in ${cluster.name}; ${plural} there: ${names.slice(0, 10).join(', ') || 'none'}${more}`,
  );
};

const namespaceOf = ({ kind, namespace }: Subject): string | undefined =>
  clusterScoped.includes(kind) ? undefined : namespace;

/** The alerts of a webhook body in a file. Throws OperatorError where there is none. */
export const readAlerts = async (file: string): Promise<Alert[]> => {
  const body = await readFile(file, 'utf8').catch(() => {
    throw new OperatorError(`cannot read ${file}: it must be an Alertmanager webhook body`);
  });
  const parsed = parsePayload(body);
  if (!parsed.ok) throw new OperatorError(`${file}: ${parsed.refusal.error}; ${parsed.refusal.fix}`);
  if (parsed.group.alerts.length === 0)
    throw new OperatorError(`${file} holds no alert: ${parsed.rejected.join('; ')}`);
  return parsed.group.alerts;
};

/** All firing alerts of one body are one incident: one subject each, the first one leading. */
export const alertTarget = (alerts: Alert[], cluster: ClusterIdentity): CollectionTarget => {
  const firing = alerts.filter((alert) => alert.status !== 'resolved');
  const relevant = firing.length > 0 ? firing : alerts;
  const subjects = relevant.map((alert) => resolveSubject(alert.labels, cluster.name));
  const unique = new Map(subjects.map((subject) => [JSON.stringify(subject), subject]));
  return { cluster, subjects: [...unique.values()], alerts: relevant };
};
