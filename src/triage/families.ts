import type { ClusterFacts } from '../facts/cluster.ts';
import { isNotTrue } from '../facts/conditions.ts';
import { isBound, isPending, isReady, isUnscheduled, restarts, waitingReason } from '../facts/pods.ts';
import type { Scope } from '../facts/scope.ts';

/** What an incident looks like from outside. Each family has its own sources that could implicate a layer. */
export const families = [
  'pending',
  'starting',
  'crash',
  'unready',
  'absent',
  'node',
  'provisioning',
  'scaling',
  'api',
  'errors',
] as const;
export type Family = (typeof families)[number];

/** Alerts about the control plane itself. */
export const apiAlert = /^(KubeAPI|etcd|KubeClient|KubeScheduler|KubeController|KubeAggregated)/;
const provisioningAlert = /Karpenter|ClusterAutoscaler|NodePool|NodeCount/i;

/** The families of the situation; `errors` (the alert alone says something is wrong) where nothing else shows. */
export const familiesOf = (facts: ClusterFacts, scope: Scope): Family[] => {
  const names = facts.alerts.map((alert) => alert.labels.alertname ?? '');
  const found = new Set<Family>();
  for (const pod of scope.troubledPods) {
    if (isUnscheduled(pod)) found.add('pending');
    else if (isPending(pod) && isBound(pod)) found.add('starting');
    if (restarts(pod) > 0 || waitingReason(pod) === 'CrashLoopBackOff') found.add('crash');
    if (pod.status?.phase === 'Running' && !isReady(pod)) found.add('unready');
  }
  for (const workload of scope.workloads) {
    const desired = workload.spec?.replicas ?? 0;
    if (workload.kind !== 'CronJob' && desired > facts.podsOf(workload).length) found.add('absent');
  }
  if (scope.subjectNodes.length > 0 || scope.nodes.some((node) => isNotTrue(node, 'Ready'))) found.add('node');
  if (scope.pools.length > 0 || names.some((name) => provisioningAlert.test(name))) found.add('provisioning');
  if (scope.subjects.some((subject) => subject.kind === 'HorizontalPodAutoscaler')) found.add('scaling');
  if (names.some((name) => apiAlert.test(name))) found.add('api');
  if (found.size === 0) found.add('errors');
  return families.filter((family) => found.has(family));
};
