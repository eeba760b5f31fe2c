import type { KubeObject } from '../../domain/kubernetes.ts';
import { isTroubled, podSpecOf } from '../../facts/pods.ts';
import { apiAlert } from '../families.ts';
import { resources } from '../resources.ts';
import { backends } from './backends.ts';
import type { Candidate, Place } from './plan.ts';
import type { Situation } from './situation.ts';

/** In each namespace of the incident; nowhere where it has none. */
export const inOwn = ({ namespaces }: Situation): Place[] => namespaces.map((namespace) => ({ namespace }));

/** In each namespace of the incident; where it has none, in all at once. */
export const inOwnOrAll = (situation: Situation): Place[] =>
  situation.namespaces.length > 0 ? inOwn(situation) : [{}];

const about = (situation: Situation, ...kinds: string[]): boolean =>
  kinds.some((kind) => situation.kinds.includes(kind));

/** The worth where it holds, else nothing. */
const when = (holds: boolean, worth: number): number => (holds ? worth : 0);

/** Whether pods of the incident belong to such a workload; those of a neighbour count for less. */
const owned = ({ pods, namespaces, facts }: Situation, kind: string): number => {
  const belongs = (pod: KubeObject): boolean =>
    pod.metadata.ownerReferences?.some((owner) => owner.kind === kind) ?? false;
  const around = namespaces.flatMap((namespace) => facts.in('Pod', namespace));
  return pods.some(belongs) || around.some((pod) => isTroubled(pod) && belongs(pod))
    ? 1
    : around.some(belongs)
      ? 0.5
      : 0;
};

/** Pods in trouble around the subject, whether or not relations lead to them yet. */
const troubledAround = ({ troubled, namespaces, facts }: Situation): KubeObject[] =>
  namespaces.length === 0
    ? troubled
    : [...troubled, ...namespaces.flatMap((namespace) => facts.in('Pod', namespace)).filter(isTroubled)];

const mountsClaim = (pods: KubeObject[]): boolean =>
  pods.some((pod) => (pod.spec?.volumes ?? []).some((volume: any) => volume.persistentVolumeClaim ?? volume.ephemeral));

const refers = ({ pods, scope }: Situation, field: string): boolean =>
  [...pods, ...scope.workloads].some((object) => podSpecOf(object)[field]);

/** Fewer pods than wanted, or none at all: something refuses to make them. */
const lacksPods = (situation: Situation): boolean =>
  situation.families.includes('absent') || (situation.namespaces.length > 0 && situation.scope.pods.length === 0);

/** An all-namespace list of such objects tells little of one incident, and is cut short in large clusters. */
const scattered = ({ namespaces }: Situation): number => (namespaces.length > 0 ? 1 : 0.4);

/** It is about the API server or what it calls. */
const aboutApi = ({ families, facts }: Situation): boolean =>
  families.includes('api') || facts.alerts.some(({ labels }) => apiAlert.test(labels.alertname ?? ''));

const pending = (situation: Situation): boolean => situation.families.includes('pending');

const volumeWords = /volume|FailedMount|FailedAttach|persistentvolume|\bpvc?\b|\bcsi\b|disk|storage/i;
const refusalWords = /webhook|admission|denied the request|FailedCreate|quota|violates|is forbidden/i;
const webhookWords = /webhook|admission|denied the request|InternalError|context deadline exceeded/i;
const trafficWords =
  /\b5\d\d\b|5xx|latency|errors?\b|endpoint|target|ingress|balancer|connect|timeout|timed out|refused|slow|availab|lookup|resol|\bdns\b|probe|unhealthy|request|traffic/i;
const identityWords =
  /forbidden|access ?denied|unauthori[sz]ed|assumerole|credential|permission|\biam\b|not authorized/i;
const scaleWords =
  /scal|\bhpa\b|replica|nodes?\b.*(count|doubl|grow)|load|cpu|memory|latency|throttl|evict|requests?\b/i;
const drainWords = /drain|evict|disrupt|budget|cordon|terminat|consolidat|drift|rollout|upgrade/i;
const certificateWords = /certificate|x509|\btls\b|secret .* not found|secret/i;
const aggregatedWords =
  /aggregated|apiservice|metrics\.k8s\.io|custom\.metrics|external\.metrics|FailedGetResourceMetric|unable to (get|fetch) metrics|the server is currently unable|terminating/i;
const preemptionWords = /preempt|priority/i;
const queueWords = /kueue|suspend|queue|admitted/i;

/** Objects an incident leans on, which are read where something in it speaks of them. */
export const needs: Candidate[] = [
  {
    resource: resources.statefulsets,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(62 * owned(s, 'StatefulSet'), when(lacksPods(s) || about(s, 'StatefulSet'), 62)),
  },
  {
    resource: resources.daemonsets,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(58 * owned(s, 'DaemonSet'), when(about(s, 'DaemonSet'), 58)),
  },
  {
    resource: resources.jobs,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(61 * owned(s, 'Job'), when(about(s, 'Job', 'CronJob'), 61)),
  },
  {
    resource: resources.cronjobs,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(50 * owned(s, 'Job'), when(about(s, 'CronJob', 'Job'), 50)),
  },

  {
    resource: resources.services,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) =>
      Math.max(
        when(about(s, 'Service', 'Ingress'), 90),
        when(s.families.includes('unready'), 40),
        55 * s.says(trafficWords) * scattered(s),
      ),
  },
  {
    resource: resources.endpointslices,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) =>
      Math.max(
        when(about(s, 'Service', 'Ingress'), 80),
        when(s.families.includes('unready'), 30),
        42 * s.says(trafficWords) * scattered(s),
      ),
  },
  {
    resource: resources.ingresses,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(when(about(s, 'Ingress'), 90), 30 * s.says(trafficWords) * scattered(s)),
  },
  {
    resource: resources.networkpolicies,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => 28 * s.says(/timeout|timed out|refused|unreachable|lookup|deadline|network|\b50[234]\b|5xx/i),
  },

  {
    resource: resources.persistentvolumeclaims,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) =>
      Math.max(
        when(about(s, 'PersistentVolumeClaim'), 90),
        when(mountsClaim(troubledAround(s)), 66),
        when(mountsClaim(s.pods), 40),
        40 * s.says(volumeWords),
      ),
  },
  {
    resource: resources.persistentvolumes,
    wave: 2,
    worth: (s) =>
      Math.max(
        when(about(s, 'PersistentVolume'), 90),
        when(mountsClaim(troubledAround(s)), 65),
        30 * s.says(volumeWords),
      ),
  },
  {
    resource: resources.storageclasses,
    wave: 2,
    worth: (s) =>
      Math.max(
        when(mountsClaim(troubledAround(s)) && pending(s), 40),
        25 * s.says(/provision|storageclass|WaitForFirstConsumer|unbound/i),
      ),
  },
  { resource: resources.volumeattachments, wave: 2, worth: (s) => 45 * s.says(/attach|FailedMount|volume/i) },
  { resource: resources.csinodes, wave: 2, worth: (s) => 30 * s.says(/attach|max(imum)? volume count|csi/i) },
  { resource: resources.csidrivers, wave: 2, worth: (s) => 8 * s.says(/\bcsi\b/i) },

  {
    resource: resources.horizontalpodautoscalers,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(when(about(s, 'HorizontalPodAutoscaler', 'ScaledObject'), 95), 20, 52 * s.says(scaleWords)),
  },
  {
    resource: resources.verticalpodautoscalers,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => 20 * s.says(/\bvpa\b|OOM|memory|evict/i),
  },
  {
    resource: resources.scaledobjects,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) =>
      Math.max(when(about(s, 'ScaledObject'), 95), 30 * s.says(scaleWords), 40 * s.says(/queue|backlog|\blag\b/i)),
  },
  {
    resource: resources.poddisruptionbudgets,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(when(about(s, 'PodDisruptionBudget'), 95), 44 * s.says(drainWords)),
  },

  {
    resource: resources.resourcequotas,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(when(about(s, 'ResourceQuota'), 95), when(lacksPods(s), 66), 60 * s.says(refusalWords)),
  },
  {
    resource: resources.limitranges,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(when(lacksPods(s), 40), 38 * s.says(/limit|FailedCreate|OOM/i)),
  },
  {
    resource: resources.validatingwebhookconfigurations,
    wave: 2,
    worth: (s) => Math.max(when(lacksPods(s), 50), when(aboutApi(s), 55), 64 * s.says(webhookWords)),
  },
  {
    resource: resources.mutatingwebhookconfigurations,
    wave: 2,
    worth: (s) => Math.max(when(lacksPods(s), 48), when(aboutApi(s), 54), 63 * s.says(webhookWords)),
  },
  {
    resource: resources.serviceaccounts,
    wave: 2,
    where: inOwnOrAll,
    worth: (s) => Math.max(when(lacksPods(s), 20), 50 * s.says(identityWords)),
  },
  { resource: resources.rolebindings, wave: 2, where: inOwnOrAll, worth: (s) => 12 * s.says(identityWords) },

  { resource: resources.certificates, wave: 2, where: inOwnOrAll, worth: (s) => 46 * s.says(certificateWords) },
  { resource: resources.externalsecrets, wave: 2, where: inOwnOrAll, worth: (s) => 46 * s.says(/secret/i) },
  { resource: resources.clustersecretstores, wave: 2, worth: (s) => 26 * s.says(/secret/i) },
  { resource: resources.localqueues, wave: 2, where: inOwnOrAll, worth: (s) => 44 * s.says(queueWords) },
  { resource: resources.queuedworkloads, wave: 2, where: inOwnOrAll, worth: (s) => 43 * s.says(queueWords) },
  { resource: resources.clusterqueues, wave: 2, worth: (s) => 42 * s.says(queueWords) },

  { resource: resources.priorityclasses, wave: 2, worth: (s) => 40 * s.says(preemptionWords) },
  { resource: resources.runtimeclasses, wave: 2, worth: (s) => when(refers(s, 'runtimeClassName'), 54) },
  {
    resource: resources.apiservices,
    wave: 2,
    worth: (s) => Math.max(when(aboutApi(s), 45), 56 * s.says(aggregatedWords)),
  },
  ...backends,
  {
    resource: resources.securitygrouppolicies,
    wave: 2,
    worth: (s) => 24 * s.says(/branch|pod-eni|security ?group|lookup/i),
  },
];
