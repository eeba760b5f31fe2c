import type { Mechanism } from '../../domain/finding.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { failedChecks } from '../../facts/control-plane/apiserver.ts';
import {
  type Backend,
  backendOf,
  caInjectors,
  covers,
  deadWebhooks,
  isServing,
  type Webhook,
  type WebhookFailure,
  webhookFailures,
  webhookNamed,
} from '../../facts/control-plane/webhooks.ts';
import { lastPerPod, timeOf } from '../../facts/logs/log-search.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, isTroubled, isUnscheduled, podSpecOf, waitingReason } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** What a refused create, update or lease renewal brings about. */
const downstream: Mechanism[] = [
  'admission-denied',
  'rollout',
  'job',
  'pending',
  'scheduling',
  'scaling-limit',
  'unknown-symptom',
  'quota',
  'pool-mismatch',
  'node-churn',
  'probe',
  'crash',
  'launch-failed',
];
const whenCoreIsBlocked: Mechanism[] = [
  'control-plane',
  'controller-down',
  'node-silent',
  'node-not-initialized',
  'node-not-joining',
  'sandbox-network',
  'network',
  'etcd',
  'eviction',
  'node-removed',
  'node-runtime',
  'dns',
  'autoscaler-growth',
];

export default rule({
  title:
    'The API server cannot call an admission webhook that fails closed: no endpoints, timeouts or a bad certificate',
  lookAlikes: [
    'the webhook answered and denied: a policy, not a failure',
    'several independent things on the path from the control plane fail: the tunnel, not the webhook',
    'failurePolicy Ignore: calls are slow, but nothing is refused',
  ],
  judge(facts, scope) {
    return failures(facts, scope).flatMap((failure) => {
      const webhook = webhookNamed(facts, failure.name);
      if (webhook?.entry.failurePolicy === 'Ignore') return [];
      const backend = backendOf(facts, webhook?.entry.clientConfig?.service ?? serviceIn(failure));
      const owner = ownerOf(facts, webhook, backend);
      const reason = reasonOf(failure, backend);
      const core = blocksCore(facts, failure, webhook);
      const evidence = cite(owner, facts);
      const injectors = reason.kind === 'certificate' ? caInjectors(facts) : [];
      const broken = [...(backend?.pods ?? []), ...injectors].filter((pod) => !isReady(pod));
      return [
        {
          mechanism: 'webhook' as const,
          explains: [
            ...downstream,
            ...(core ? whenCoreIsBlocked : []),
            ...(reason.kind === 'certificate' ? (['certificate'] as const) : []),
          ],
          owner,
          boundary: 'admission' as const,
          strength:
            reason.proven && failure.events.length + failure.lines.length + failure.series.length > 0
              ? ('direct' as const)
              : ('derived' as const),
          cause: text(
            `Webhook ${failure.name} fails closed and ${reason.words}, so ${core ? 'lease, node and system pod writes are refused' : 'matching objects are refused'}${pinned(backend)}.`,
          ),
          root: backend?.workload
            ? refOf(backend.workload)
            : webhook
              ? refOf(webhook.configuration)
              : { kind: 'Webhook', name: failure.name },
          affects: victims(facts, scope, failure, core),
          onset: earliest(
            ...failure.events.map((event) => event.firstAt),
            ...failure.lines.map((entry) => timeOf(entry.line, facts.now)),
          ),
          evidence: [
            ...distinctEvents(failure).map((event) => evidence.event(event)),
            ...lastPerPod(failure.lines)
              .slice(0, 2)
              .map((entry) => evidence.log(entry.log, entry.line)),
            ...failure.series.slice(0, 1).map((series) => evidence.series(series, `${lastValue(series)} calls failed`)),
            ...(webhook ? webhookEvidence(facts, webhook) : []),
            ...(backend
              ? backend.slices
                  .slice(0, 1)
                  .map((slice) => evidence.field(slice, 'endpoints', `${backend.ready} of ${backend.total} ready`))
              : []),
            ...broken.slice(0, 2).map((pod) => evidence.condition(pod, isUnscheduled(pod) ? 'PodScheduled' : 'Ready')),
            ...(core && failedChecks(facts).length > 0 ? [evidence.probe(facts.probe('readyz')!)] : []),
          ],
          chain: [
            ...broken.slice(0, 1).map((pod) => link(pod, waitingReason(pod) ?? 'not ready')),
            ...(webhook ? [link(webhook.configuration, `${failure.name}: ${reason.words}`)] : []),
            ...failure.events.slice(0, 1).map((event) => ({
              object: `${event.regarding.kind} ${event.regarding.namespace ?? ''}/${event.regarding.name}`,
              uid: event.regarding.uid,
              claim: 'refused',
            })),
          ],
          nextSteps: [
            text(stepFor(reason.kind, failure.name, webhook, backend)),
            text(
              'Exclude kube-system and the webhook’s own namespace by namespaceSelector, and run two replicas on nodes that stay.',
            ),
          ],
        },
      ];
    });
  },
});

/** Every failure with a witness, and dead webhooks that cover what the subject suffers from. */
const failures = (facts: ClusterFacts, scope: Scope): WebhookFailure[] => {
  const witnessed = webhookFailures(facts);
  const suffers = (webhook: Webhook): boolean =>
    (covers(webhook, 'coordination.k8s.io', 'leases') || covers(webhook, '', 'nodes')
      ? facts.all('Node').some(isNotReady) || failedChecks(facts).length > 0
      : false) ||
    (covers(webhook, '', 'pods') &&
      scope.workloads.some((workload) => (workload.spec?.replicas ?? 0) > facts.podsOf(workload).length));
  const dead = deadWebhooks(facts).filter(
    (webhook) => suffers(webhook) && !witnessed.some((failure) => failure.name === webhook.entry.name),
  );
  return [...witnessed, ...dead.map((webhook) => ({ name: webhook.entry.name, events: [], lines: [], series: [] }))];
};

const serviceIn = (failure: WebhookFailure): { namespace?: string; name?: string } => {
  const words = [...failure.events.map((event) => event.message), ...failure.lines.map((entry) => entry.line)].join(
    '\n',
  );
  const match = /https:\/\/([a-z0-9-]+)\.([a-z0-9-]+)\.svc/.exec(words);
  return { name: match?.[1], namespace: match?.[2] };
};

const ownerOf = (
  facts: ClusterFacts,
  webhook: Webhook | undefined,
  backend: Backend | undefined,
): 'platform' | 'app' => {
  if (backend?.workload) return ownershipOf(facts, backend.workload);
  if (backend)
    return ownershipOf(facts, { kind: 'Service', metadata: { name: backend.service, namespace: backend.namespace } });
  return webhook ? ownershipOf(facts, webhook.configuration) : 'platform';
};

interface Reason {
  kind: 'no-endpoints' | 'certificate' | 'refused' | 'timeout' | 'service' | 'other';
  words: string;
  /** True where objects confirm what the message says. */
  proven: boolean;
}

const reasonOf = (failure: WebhookFailure, backend: Backend | undefined): Reason => {
  const words = [...failure.events.map((event) => event.message), ...failure.lines.map((entry) => entry.line)].join(
    '\n',
  );
  const empty =
    backend !== undefined && !isServing(backend) && (backend.ready !== undefined || backend.pods.length > 0);
  if (/x509|tls: /.test(words)) {
    const detail = /x509: [^"\n]*?(?=["\n]|$)/.exec(words)?.[0] ?? 'its certificate is not accepted';
    return { kind: 'certificate', words: `its certificate is not accepted (${detail.slice(0, 140)})`, proven: true };
  }
  if (/no endpoints available/.test(words) || empty)
    return {
      kind: 'no-endpoints',
      words: `has no ready endpoint${backend ? ` (Service ${backend.namespace}/${backend.service}: ${backend.ready ?? 0} of ${Math.max(backend.total, backend.pods.length)})` : ''}`,
      proven: true,
    };
  if (/service "[^"]+" not found/.test(words))
    return { kind: 'service', words: 'its Service does not exist', proven: true };
  if (/connection refused/.test(words))
    return { kind: 'refused', words: 'its backend refuses connections', proven: true };
  if (/deadline exceeded|timeout|timed out/i.test(words))
    return { kind: 'timeout', words: 'does not answer in time', proven: false };
  return { kind: 'other', words: 'cannot be called', proven: false };
};

/** Does it hold up what keeps nodes and controllers alive: leases, kube-system’s pods, the API server’s own hooks? */
const blocksCore = (facts: ClusterFacts, failure: WebhookFailure, webhook: Webhook | undefined): boolean =>
  (webhook !== undefined && (covers(webhook, 'coordination.k8s.io', 'leases') || covers(webhook, '', 'nodes'))) ||
  failure.events.some((event) => event.regarding.namespace === 'kube-system') ||
  failure.lines.some(({ line }) => /leader ?election|lease|update lock/i.test(line)) ||
  failedChecks(facts).some((check) => check.startsWith('poststarthook/'));

const victims = (facts: ClusterFacts, scope: Scope, failure: WebhookFailure, core: boolean): ObjectRef[] => {
  const refused = failure.events.map((event) => event.regarding);
  const owners = refused.flatMap((ref) => {
    const object = facts.resolve(ref);
    return object ? facts.ownerChain(object).map(refOf) : [ref];
  });
  const nodes = core ? facts.all('Node').filter(isNotReady) : [];
  const stranded = core
    ? facts.all('Pod').filter((pod) => isUnscheduled(pod) || nodes.includes(facts.nodeOf(pod) as KubeObject))
    : [];
  const wide = scope.wide || (core && scope.workloads.length === 0 && scope.subjectNodes.length === 0);
  const complaining = failure.lines.flatMap(({ log }) => facts.find('Pod', log.pod, log.namespace) ?? []);
  return [
    ...owners,
    ...complaining.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
    ...scope.workloads
      .filter(
        (workload) => failure.events.length === 0 && (workload.spec?.replicas ?? 0) > facts.podsOf(workload).length,
      )
      .map(refOf),
    ...nodes.map(refOf),
    ...stranded.flatMap((pod) => [refOf(pod), refOf(facts.workloadOf(pod))]),
    ...(wide ? [{ kind: 'Cluster', name: facts.identity.name }] : []),
    ...(core
      ? scope.pods
          .filter(isTroubled)
          .filter((pod) => stranded.includes(pod))
          .map(refOf)
      : []),
  ];
};

const distinctEvents = (failure: WebhookFailure) =>
  [
    ...new Map(failure.events.map((event) => [`${event.regarding.kind}/${event.regarding.name}`, event])).values(),
  ].slice(0, 3);

const webhookEvidence = (facts: ClusterFacts, webhook: Webhook) => {
  const evidence = cite('platform', facts);
  const path = `webhooks[${webhook.index}]`;
  return [
    evidence.field(
      webhook.configuration,
      `${path}.failurePolicy`,
      webhook.entry.failurePolicy ?? 'Fail',
      webhook.entry.name,
    ),
    evidence.field(
      webhook.configuration,
      `${path}.rules`,
      webhook.entry.rules,
      `namespaceSelector ${JSON.stringify(webhook.entry.namespaceSelector ?? {})}`,
    ),
  ];
};

/** Where the backend may run at all, when that is narrow: the reason it did not come back. */
const pinned = (backend: Backend | undefined): string => {
  const selector = backend?.workload ? podSpecOf(backend.workload)?.nodeSelector : undefined;
  const unplaced = backend?.pods.some((pod) => isUnscheduled(pod));
  return selector && unplaced
    ? `; ${backend!.workload!.kind} ${backend!.workload!.metadata.name} may only run on nodes with ${Object.entries(
        selector,
      )
        .map(([key, value]) => `${key}=${value}`)
        .join(', ')}, none of which is ready`
    : '';
};

const stepFor = (
  kind: Reason['kind'],
  name: string,
  webhook: Webhook | undefined,
  backend: Backend | undefined,
): string => {
  const configuration = webhook
    ? `${webhook.configuration.kind.toLowerCase()} ${webhook.configuration.metadata.name}`
    : `the configuration of ${name}`;
  if (kind === 'certificate')
    return `Renew the serving certificate and caBundle of ${name}; check that its pods reloaded the Secret: kubectl get certificate -n ${backend?.namespace ?? '<ns>'}`;
  return `To open the cluster now: set failurePolicy: Ignore on, or delete, ${configuration} (it comes back with its chart); then bring ${backend ? `${backend.namespace}/${backend.service}` : 'the backend'} up.`;
};
