import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { backendOf, isServing } from '../../facts/control-plane/webhooks.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, terminations, waitingReason } from '../../facts/pods.ts';
import { rule } from '../../triage/rule.ts';

/** Metrics APIs have their own rule: there the autoscalers are the victims. */
const metricsGroup = /(^|\.)metrics\.k8s\.io$/;

export default rule({
  title: 'An aggregated API is down because nothing serves behind its APIService',
  lookAlikes: [
    'the backend is ready and cannot be reached from the control plane: the tunnel',
    'the API server itself is unhealthy',
  ],
  judge(facts) {
    return facts
      .all('APIService')
      .filter(
        (service) =>
          condition(service, 'Available')?.status === 'False' && !metricsGroup.test(service.spec?.group ?? ''),
      )
      .flatMap((service) => {
        const available = condition(service, 'Available')!;
        const backend = backendOf(facts, service.spec?.service);
        if (!backend || (isServing(backend) && available.reason === 'FailedDiscoveryCheck')) return [];
        const object: KubeObject = backend.workload ?? {
          kind: 'Service',
          metadata: { name: backend.service, namespace: backend.namespace },
        };
        const owner = ownershipOf(facts, object);
        const evidence = cite(owner, facts);
        const broken = backend.pods.filter((pod) => !isReady(pod));
        const end = broken.flatMap(terminations)[0];
        const why = end
          ? `${end.container} ended with ${end.terminated.reason ?? end.terminated.exitCode}`
          : broken[0]
            ? (waitingReason(broken[0]) ?? 'its pods are not ready')
            : (available.reason ?? 'no endpoints');
        return [
          {
            mechanism: 'controller-down' as const,
            explains: [
              'scaling-metrics' as const,
              'scaling-limit' as const,
              'control-plane' as const,
              'unknown-symptom' as const,
              'rollout' as const,
            ],
            owner,
            boundary: 'control-plane' as const,
            strength: broken.length > 0 || backend.ready === 0 ? ('direct' as const) : ('derived' as const),
            cause: text(
              `Aggregated API ${service.metadata.name} is unavailable (${available.reason}): nothing serves behind Service ${backend.namespace}/${backend.service}, ${why}.`,
            ),
            root: refOf(object),
            affects: [
              refOf(service),
              refOf(object),
              ...broken.map(refOf),
              { kind: 'Cluster', name: facts.identity.name },
            ],
            onset: available.lastTransitionTime,
            evidence: [
              evidence.condition(service, 'Available'),
              ...backend.slices
                .slice(0, 1)
                .map((slice) => evidence.field(slice, 'endpoints', `${backend.ready} of ${backend.total} ready`)),
              ...broken.slice(0, 2).map((pod) => evidence.field(pod, 'status.containerStatuses')),
            ],
            chain: [link(object, why), link(service, available.reason ?? 'unavailable')],
            nextSteps: [
              text(
                `kubectl -n ${backend.namespace} get pods,endpointslices; if the API is no longer used, delete APIService ${service.metadata.name}: it blocks discovery and namespace deletion.`,
              ),
            ],
          },
        ];
      });
  },
});
