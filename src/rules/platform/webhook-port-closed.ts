import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { backendOf, isServing, webhookFailures, webhookNamed, webhooksOf } from '../../facts/control-plane/webhooks.ts';
import { lastPerPod, timeOf } from '../../facts/logs/log-search.ts';
import { containersOf } from '../../facts/pods.ts';
import { isManaged } from '../../facts/provider.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A dropped packet, not an answer. */
const notReached = /deadline exceeded|Client\.Timeout|i\/o timeout|timed out|no route to host/i;
/** Ports that providers open from the control plane to nodes by themselves. */
const open = new Set([443, 10250]);

export default rule({
  title: 'The control plane cannot reach a webhook on its port, while calls on other ports arrive: a firewall rule',
  lookAlikes: [
    'webhooks and aggregated APIs fail on every port: the tunnel or the nodes',
    'the backend has no ready pod or refuses: the webhook itself',
    'the webhook answers slowly under load: it answers some calls',
  ],
  judge(facts) {
    if (!isManaged(facts)) return [];
    const closed = webhookFailures(facts).flatMap((failure) => {
      const words = [...failure.events.map((event) => event.message), ...failure.lines.map(({ line }) => line)];
      const webhook = webhookNamed(facts, failure.name);
      const service = webhook?.entry.clientConfig?.service;
      const backend = backendOf(facts, service);
      const port = portOf(facts, service);
      const cut = words.length > 0 && words.every((word) => notReached.test(word));
      return cut && webhook && backend && isServing(backend) && port && !open.has(port)
        ? [{ failure, webhook, backend, port }]
        : [];
    });
    const [first] = closed;
    const reached = answering(facts, new Set(closed.map((entry) => entry.webhook.configuration)));
    if (!first || reached.length === 0) return [];
    const { failure, webhook, backend, port } = first;
    const evidence = cite('platform', facts);
    const witnesses = lastPerPod(failure.lines);
    const victims = witnesses
      .map(({ log }) => facts.find('Pod', log.pod, log.namespace))
      .filter((pod) => pod !== undefined);
    return [
      {
        mechanism: 'network',
        explains: ['webhook', 'admission-denied', 'rollout', 'pending', 'job', 'unknown-symptom', 'application-error'],
        owner: 'platform',
        boundary: 'network',
        strength: 'derived',
        cause: text(
          `The control plane gets no answer from webhook ${failure.name} on port ${port} of its ready pods, while ${reached.join(', ')} answer on other ports: port ${port} is not open from the control plane to the nodes.`,
        ),
        root: refOf(webhook.configuration),
        affects: [
          ...failure.events.map((event) => event.regarding),
          ...victims.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
          ...(backend.workload ? [refOf(backend.workload)] : []),
          { kind: 'Cluster', name: facts.identity.name },
        ],
        onset: earliest(
          ...failure.events.map((event) => event.firstAt),
          ...failure.lines.map(({ line }) => timeOf(line, facts.now)),
        ),
        evidence: [
          ...failure.events.slice(-2).map((event) => evidence.event(event)),
          ...witnesses.slice(0, 2).map((entry) => evidence.log(entry.log, entry.line)),
          evidence.field(webhook.configuration, `webhooks[${webhook.index}].clientConfig.service`),
          ...servicesOf(facts, webhook.entry.clientConfig?.service).map((service) =>
            evidence.field(service, 'spec.ports'),
          ),
          ...backend.pods.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
        ],
        chain: [
          {
            object: `firewall between control plane and nodes of ${facts.identity.name}`,
            claim: `port ${port} is closed`,
          },
          link(webhook.configuration, 'cannot be called'),
        ],
        nextSteps: [
          text(
            `Allow TCP ${port} from the control plane to the nodes (GKE: rule gke-<cluster>-master of a private cluster; EKS: node security group), or serve the webhook on 443 or 10250.`,
          ),
        ],
      },
    ];
  },
});

const servicesOf = (facts: ClusterFacts, service: { name?: string; namespace?: string } | undefined): KubeObject[] =>
  [facts.find('Service', service?.name, service?.namespace)].filter((found) => found !== undefined);

/** The port of the pods that a call arrives at; a name is looked up in their containers. */
const portOf = (facts: ClusterFacts, service: any): number | undefined => {
  const object = facts.find('Service', service?.name, service?.namespace);
  const asked = service?.port ?? 443;
  const target = (object?.spec?.ports ?? []).find((entry: any) => entry.port === asked)?.targetPort ?? asked;
  if (!Number.isNaN(Number(target))) return object ? Number(target) : undefined;
  const pods = backendOf(facts, service)?.pods ?? [];
  return pods
    .flatMap(containersOf)
    .flatMap((container) => container.ports ?? [])
    .find((entry: any) => entry.name === target)?.containerPort;
};

/** Calls from the control plane into the cluster that arrive: the tunnel itself is well. */
const answering = (facts: ClusterFacts, broken: Set<KubeObject>): string[] => {
  const failing = new Set(webhookFailures(facts).map((failure) => failure.name));
  const apis = facts
    .all('APIService')
    .filter((service) => service.spec?.service && isTrue(service, 'Available'))
    .map((service) => `APIService ${service.metadata.name}`);
  const hooks = webhooksOf(facts)
    .filter((webhook) => !broken.has(webhook.configuration) && !failing.has(webhook.entry.name))
    .filter((webhook) => open.has(portOf(facts, webhook.entry.clientConfig?.service) ?? 0))
    .map((webhook) => `webhook ${webhook.entry.name}`);
  return [...apis, ...hooks].slice(0, 3);
};
