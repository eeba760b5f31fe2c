import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { scalingFailure } from '../../facts/capacity/autoscalers.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isNotTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, unschedulableMessage, waitingReason } from '../../facts/pods.ts';
import { citeCrash, crashesOf } from '../../facts/workloads/crashes.ts';
import { backendsNamed } from '../../facts/workloads/dependencies.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const metricsGroup = /(?:^|\.)(?:custom\.|external\.)?metrics\.k8s\.io$/;
/** The API that serves metrics answered nothing at all: not "no such metric", not "missing request". */
const apiDown =
  /unable to fetch metrics from (\w+) metrics API: (?:the server is currently unable|the server could not find the requested resource|an error on the server|no known available metric versions|Internal error|failed calling)|(?:get|list) (?:pods|nodes|services|deployments)?\.?\w*\.metrics\.k8s\.io\).*|server is currently unable to handle the request \(get ([\w.]*metrics\.k8s\.io)/;

export default rule({
  title: 'No autoscaler can compute replicas because the metrics API behind an APIService is down',
  lookAlikes: [
    '"the server is currently unable to handle the request" reads like the API server; it is the aggregated API',
    'metrics-server is well and the way from the control plane to it is broken',
    'one HPA fails for a pod without a request while others compute: the metrics API works',
  ],
  judge(facts, scope) {
    const hpas = facts
      .all('HorizontalPodAutoscaler')
      .filter((hpa) => apiDown.test(scalingFailure(facts, hpa)?.message ?? ''));
    const services = facts
      .all('APIService')
      .filter((service) => metricsGroup.test(service.spec?.group ?? service.metadata.name.replace(/^v\w+\./, '')));
    const down = services.filter((service) => isNotTrue(service, 'Available'));
    const blind = hpas.filter((hpa) => scope.has(refOf(hpa)));
    const asked = down.filter((service) => scope.has(refOf(service)));
    if (blind.length === 0 && asked.length === 0) return [];
    return (asked.length > 0 ? asked : down.length > 0 ? down.slice(0, 1) : [undefined]).map((service) =>
      metricsFinding(facts, service, blind.length > 0 ? blind : hpas, hpas.length),
    );
  },
});

const metricsFinding = (
  facts: ClusterFacts,
  service: KubeObject | undefined,
  hpas: KubeObject[],
  count: number,
): FindingDraft => {
  const { name = 'metrics-server', namespace = 'kube-system' } = service?.spec?.service ?? {};
  const workload =
    backendsNamed(facts, `${name}.${namespace}.svc`, namespace)[0] ?? facts.find('Deployment', name, namespace);
  const pods = workload
    ? facts.podsOf(workload)
    : facts.in('Pod', namespace).filter((pod) => pod.metadata.name.startsWith(`${name}-`));
  const sick = pods.filter((pod) => !isReady(pod));
  const crash = crashesOf(facts, sick)[0];
  const well = pods.length > 0 && sick.length === 0;
  const available = condition(service, 'Available');
  const owner: Owner = well ? 'undetermined' : workload ? ownershipOf(facts, workload) : 'platform';
  const strength: Strength = well ? 'circumstantial' : sick.length > 0 ? 'direct' : 'derived';
  const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
  const why = crash
    ? `${nameOf(crash.pod)} is down (${[crash.waiting, crash.reason].filter(Boolean).join(', ')})`
    : sick[0]
      ? `${nameOf(sick[0])} is not ready (${waitingReason(sick[0]) ?? (unschedulableMessage(sick[0]).slice(0, 120) || 'see its conditions')})`
      : well
        ? `its pods are ready, so the way from the API server to them is in question (${available?.reason ?? 'unknown'})`
        : workload
          ? `${nameOf(workload)} has no pods`
          : 'nothing serves it';
  return {
    mechanism: 'scaling-metrics',
    explains: ['application-error', 'load', 'scaling-limit', 'unknown-symptom', 'throttling'],
    owner,
    boundary: 'autoscaling',
    strength,
    cause: text(
      `The metrics API${service ? ` (${service.metadata.name})` : ''} does not answer because ${why}, so ${count} autoscaler${count === 1 ? '' : 's'} cannot compute replicas.`,
    ),
    root: workload ? refOf(workload) : service ? refOf(service) : refOf(hpas[0]!),
    affects: [
      ...hpas,
      ...hpas.flatMap((hpa) => facts.find('Deployment', hpa.spec?.scaleTargetRef?.name, hpa.metadata.namespace) ?? []),
      ...(service ? [service] : []),
      ...sick,
    ].map(refOf),
    onset: available?.lastTransitionTime,
    evidence: [
      ...hpas.slice(0, 2).flatMap((hpa) => {
        const failure = scalingFailure(facts, hpa);
        return [evidence.condition(hpa, 'ScalingActive'), ...(failure?.event ? [evidence.event(failure.event)] : [])];
      }),
      ...(service ? [evidence.condition(service, 'Available')] : []),
      ...(crash ? [citeCrash(evidence, crash)] : []),
      ...sick.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
    ],
    chain: [
      ...(workload ? [link(workload, why)] : []),
      ...(service ? [link(service, `Available False: ${available?.reason ?? ''}`)] : []),
      ...hpas.slice(0, 2).map((hpa) => link(hpa, 'computes no replicas')),
    ],
    contributing: [],
    nextSteps: [
      text(
        `kubectl get apiservice ${service?.metadata.name ?? 'v1beta1.metrics.k8s.io'}; kubectl describe pods -n ${namespace} | grep -A5 ${name}`,
      ),
      text(
        `Until it is back: kubectl scale deployment/${hpas[0]?.spec?.scaleTargetRef?.name ?? '<name>'} -n ${hpas[0]?.metadata.namespace ?? '<namespace>'} --replicas=<n>`,
      ),
    ],
    missing: well
      ? [
          {
            layer: 'cloud',
            missing: 'whether the control plane reaches the cluster network',
            fix: `kubectl get --raw /apis/${service?.spec?.group ?? 'metrics.k8s.io'}/${service?.spec?.version ?? 'v1beta1'}; check the tunnel or the security groups of the control plane`,
          },
        ]
      : [],
  };
};
