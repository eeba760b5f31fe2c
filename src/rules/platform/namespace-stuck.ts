import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isNotTrue, isTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Deleting the objects of a namespace takes some minutes. */
const stuckMinutes = 10;
/** `external.metrics.k8s.io/v1beta1: stale GroupVersion discovery`, or the API server's other words for a dead group. */
const groupVersion = /(?<![a-z0-9.-])([a-z0-9-]+(?:\.[a-z0-9-]+)+)\/(v\d\w*): /;

export default rule({
  title: 'Namespaces stay in Terminating: an API group that nothing serves, or finalizers that nobody removes',
  lookAlikes: ['a namespace whose pods still end', 'pods that cannot be deleted because their node is gone'],
  judge(facts, scope) {
    const stuck = facts
      .all('Namespace')
      .filter((namespace) => minutesBetween(namespace.metadata.deletionTimestamp, facts.now) > stuckMinutes);
    const asked = stuck.filter((namespace) => scope.has(refOf(namespace)));
    if (asked.length === 0) return [];
    const undiscovered = stuck.filter((namespace) => isTrue(namespace, 'NamespaceDeletionDiscoveryFailure'));
    return undiscovered.length > 0
      ? [discoveryFinding(facts, undiscovered)]
      : asked.flatMap((namespace) => finalizerFinding(facts, namespace));
  },
});

const discoveryFinding = (facts: ClusterFacts, stuck: KubeObject[]): FindingDraft => {
  const message = condition(stuck[0], 'NamespaceDeletionDiscoveryFailure')?.message ?? '';
  const [, group = '', version = ''] = groupVersion.exec(message) ?? [];
  const service =
    facts.find('APIService', `${version}.${group}`) ??
    facts.all('APIService').find((entry) => isNotTrue(entry, 'Available') && entry.spec?.service);
  const { name, namespace } = service?.spec?.service ?? {};
  const backend = facts.find('Service', name, namespace);
  const owner = backend ? ownershipOf(facts, backend) : 'platform';
  const evidence = cite(owner, facts);
  const why = condition(service, 'Available')?.reason;
  return {
    mechanism: 'controller-down',
    explains: ['control-plane', 'unknown-symptom', 'rollout', 'scaling-metrics'],
    owner,
    boundary: 'control-plane',
    strength: service && isNotTrue(service, 'Available') ? 'direct' : 'derived',
    cause: text(
      `${stuck.length} namespaces (${stuck[0]!.metadata.name} …) cannot be finalised because discovery of ${group || 'an API group'} fails${service ? `: APIService ${service.metadata.name} is not available (${why}), nothing serves behind ${namespace}/${name}` : ''}.`,
    ),
    root: service ? refOf(service) : refOf(stuck[0]!),
    affects: [...stuck, ...(service ? [service] : [])].map(refOf),
    onset: condition(service, 'Available')?.lastTransitionTime ?? stuck[0]!.metadata.deletionTimestamp,
    evidence: [
      ...stuck.slice(0, 3).map((entry) => evidence.condition(entry, 'NamespaceDeletionDiscoveryFailure')),
      ...(service ? [evidence.condition(service, 'Available'), evidence.field(service, 'spec.service')] : []),
    ],
    chain: [
      ...(service ? [link(service, why ?? 'not available')] : []),
      ...stuck.slice(0, 3).map((entry) => link(entry, 'stays in Terminating')),
    ],
    nextSteps: [
      text(
        service
          ? `If nothing uses ${group} any more: kubectl delete apiservice ${service.metadata.name}; else bring Service ${namespace}/${name} back.`
          : 'kubectl get apiservices | grep False; kubectl get --raw /apis',
      ),
    ],
  };
};

const finalizerFinding = (facts: ClusterFacts, namespace: KubeObject): FindingDraft[] => {
  const left = ['NamespaceFinalizersRemaining', 'NamespaceContentRemaining', 'NamespaceDeletionContentFailure'].filter(
    (type) => isTrue(namespace, type),
  );
  if (left.length === 0) return [];
  const messages = left.map((type) => condition(namespace, type)?.message ?? '');
  const finalizers = [
    ...messages.join(' ').matchAll(/(?<![\w.-])([a-z0-9.-]+\/[\w.-]+|[\w-]+(?:\.[\w-]+){2,}) in \d+ resource/g),
  ].map((match) => match[1]);
  const evidence = cite('platform', facts);
  return [
    {
      mechanism: 'controller-down',
      explains: ['unknown-symptom'],
      owner: finalizers.length > 0 ? 'platform' : 'undetermined',
      boundary: 'control-plane',
      strength: finalizers.length > 0 ? 'derived' : 'circumstantial',
      cause: text(
        `Namespace ${namespace.metadata.name} has been Terminating since ${namespace.metadata.deletionTimestamp}: ${finalizers.length > 0 ? `nothing removes the finalizers ${[...new Set(finalizers)].join(', ')}` : messages[0]}.`,
      ),
      root: refOf(namespace),
      affects: [refOf(namespace)],
      onset: earliest(namespace.metadata.deletionTimestamp),
      evidence: left.map((type) => evidence.condition(namespace, type)),
      chain: [link(namespace, messages[0] ?? '')],
      nextSteps: [
        text(
          `Find the controller of these finalizers and bring it back before removing them by hand: kubectl api-resources --verbs=list --namespaced -o name | xargs -n1 kubectl get -n ${namespace.metadata.name} --ignore-not-found`,
        ),
      ],
      missing:
        finalizers.length > 0
          ? []
          : [
              {
                layer: 'platform',
                missing: `what is left in namespace ${namespace.metadata.name}`,
                fix: `kubectl api-resources --verbs=list --namespaced -o name | xargs -n1 kubectl get -n ${namespace.metadata.name} --ignore-not-found`,
              },
            ],
    },
  ];
};
