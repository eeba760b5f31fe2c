import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { lastWrite } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type Webhook, webhookNamed } from '../../facts/control-plane/webhooks.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { isPlatformNamespace } from '../../facts/ownership.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const denied =
  /admission webhook "([^"]+)" denied the request|violates PodSecurity "([^"]+)"|ValidatingAdmissionPolicy '([^']+)'/;

export default rule({
  title: 'A policy denies the pods of a system DaemonSet, so nodes never get network, storage or proxy',
  lookAlikes: [
    'a policy that denies an application’s pods: that release’s business',
    'a webhook that cannot be called at all',
  ],
  judge(facts) {
    const events = facts.events.filter(
      (event) =>
        event.reason === 'FailedCreate' &&
        event.regarding.kind === 'DaemonSet' &&
        isPlatformNamespace(event.regarding.namespace ?? '') &&
        denied.test(event.message),
    );
    if (events.length === 0) return [];
    const policy = events
      .map((event) => denied.exec(event.message)!)
      .map((match) => match[1] ?? match[2] ?? match[3])[0]!;
    const webhook = webhookNamed(facts, policy);
    const namespace = facts.find('Namespace', events[0]!.regarding.namespace);
    const exemption = webhook && namespace ? lostExemption(facts, webhook, namespace) : undefined;
    const write = namespace && lastWrite(namespace);
    const nodes = facts.all('Node').filter(isNotReady);
    const evidence = cite('platform', facts);
    const sets = distinct(events);
    return [
      {
        mechanism: 'admission-denied',
        explains: [
          'node-not-initialized',
          'node-not-joining',
          'node-runtime',
          'sandbox-network',
          'network',
          'pending',
          'scheduling',
          'node-silent',
          'unknown-symptom',
          'dns',
        ],
        owner: 'platform',
        boundary: 'admission',
        strength: 'direct',
        cause: text(
          `${policy} denies the pods of DaemonSet ${sets.map((event) => `${event.regarding.namespace}/${event.regarding.name}`).join(', ')}${exemption ? `: namespace ${namespace!.metadata.name} lacks the label ${exemption.key}, which exempts ${exemption.exempt.join(', ')}${write ? ` (last written by ${write.manager} at ${write.time})` : ''}` : ''}, so new nodes stay without them.`,
        ),
        root: webhook ? refOf(webhook.configuration) : { kind: 'Policy', name: policy },
        affects: [
          ...nodes.map(refOf),
          ...sets.map((event) => event.regarding),
          ...strandedPods(facts, nodes).map(refOf),
        ],
        onset: earliest(...events.map((event) => event.firstAt)),
        evidence: [
          ...sets.slice(0, 3).map((event) => evidence.event(event)),
          ...(webhook
            ? [
                evidence.field(
                  webhook.configuration,
                  `webhooks[${webhook.index}].namespaceSelector`,
                  webhook.entry.namespaceSelector ?? {},
                  webhook.entry.name,
                ),
              ]
            : []),
          ...(namespace
            ? [
                evidence.field(
                  namespace,
                  'metadata.labels',
                  namespace.metadata.labels ?? {},
                  write ? `last written by ${write.manager} at ${write.time}` : '',
                ),
              ]
            : []),
          ...nodes.slice(0, 2).map((node) => evidence.condition(node, 'Ready')),
        ],
        chain: [
          ...(webhook ? [link(webhook.configuration, 'denies system pods')] : []),
          ...nodes.slice(0, 1).map((node) => link(node, 'NotReady')),
        ],
        nextSteps: [
          text(
            exemption
              ? `Put the label back: kubectl label namespace ${namespace!.metadata.name} ${exemption.key}=${exemption.value}, and in the code that wrote the namespace.`
              : `Exempt ${sets[0]!.regarding.namespace} from ${policy}.`,
          ),
        ],
      },
    ];
  },
});

const distinct = (events: KubeEvent[]): KubeEvent[] => [
  ...new Map(events.map((event) => [`${event.regarding.namespace}/${event.regarding.name}`, event])).values(),
];

/** A label that other namespaces carry to be left alone, and this one does not. */
const lostExemption = (
  facts: ClusterFacts,
  webhook: Webhook,
  namespace: KubeObject,
): { key: string; value: string; exempt: string[] } | undefined => {
  const keys = ((webhook.entry.namespaceSelector?.matchExpressions ?? []) as any[])
    .filter((entry) => entry.operator === 'DoesNotExist' || entry.operator === 'NotIn')
    .map((entry) => entry.key as string)
    .filter((key) => key !== 'kubernetes.io/metadata.name' && namespace.metadata.labels?.[key] === undefined);
  for (const key of keys) {
    const exempt = facts.all('Namespace').filter((other) => other.metadata.labels?.[key] !== undefined);
    const value = exempt[0]?.metadata.labels?.[key];
    if (value !== undefined) return { key, value, exempt: exempt.map((other) => other.metadata.name) };
  }
  return undefined;
};

const strandedPods = (facts: ClusterFacts, nodes: KubeObject[]): KubeObject[] =>
  nodes.flatMap((node) => facts.podsOn(node.metadata.name));
