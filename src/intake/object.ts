import type { Subject } from '../domain/alert.ts';

/** kubectl's names of the kinds one can triage, singular, plural and short. */
export const kindNames: Record<string, string[]> = {
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

export type ParsedObject = { ok: true; subject: Subject } | { ok: false; problem: string };

/** `deployment/web` as a person types it; the problem says what it names no known kind of, or what it lacks. */
export const parseObject = (object: string, namespace: string | undefined, cluster: string): ParsedObject => {
  const [typed = '', name] = object.split('/');
  const kind = Object.keys(kindNames).find((known) => kindNames[known]?.includes(typed.toLowerCase()));
  if (!kind) {
    const known = Object.values(kindNames).map(([first]) => first);
    return problem(`cannot triage "${object}": use <kind/name> with a kind of ${known.join(', ')}`);
  }
  if (kind === 'Cluster') return { ok: true, subject: { cluster, kind } };
  if (!name) return problem(`"${object}" has no name: write ${typed}/<name>`);
  if (clusterScoped.includes(kind))
    return { ok: true, subject: { cluster, kind, name, ...(kind === 'Namespace' ? { namespace: name } : {}) } };
  if (!namespace) return problem(`${object} lies in a namespace: add -n <namespace>`);
  return { ok: true, subject: { cluster, kind, name, namespace } };
};

const problem = (text: string): ParsedObject => ({ ok: false, problem: text });

/** The namespace an object lies in; a Namespace lies in none. */
export const namespaceOf = ({ kind, namespace }: Subject): string | undefined =>
  clusterScoped.includes(kind) ? undefined : namespace;
