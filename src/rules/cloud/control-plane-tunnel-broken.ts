import { type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { backendOf, isServing, webhookFailures, webhookNamed } from '../../facts/control-plane/webhooks.ts';
import { lastPerPod, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { failedReads, readEvidence } from '../../facts/logs/witness.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { isReady } from '../../facts/pods.ts';
import { controlPlaneOwner, isManaged, vendorOf } from '../../facts/provider.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** The proxy between control plane and nodes, by its own names: konnectivity, tunnelfront, AKS’ socket. */
const tunnelWords =
  /tunnel-uds|tunnelfront|konnectivity|proxy error from (localhost|127\.0\.0\.1)|No agent available|apiserver-network-proxy|dialing backend.*(agent|tunnel)|backstop/i;
const kubeletPort =
  /:10250\b.*(timed out|timeout|refused|no route|deadline)|(error dialing backend|proxy error).*:10250/i;
const notReached =
  /deadline exceeded|timed out|timeout|no route to host|connection reset|i\/o timeout|No agent available|tunnel-uds|proxysocket|503/i;
const agents = /^(konnectivity-agent|tunnelfront|aks-link|vpn-)/;

interface Broken {
  kind: 'webhook' | 'aggregated API' | 'kubelet port' | 'tunnel';
  what: string;
  refs: ObjectRef[];
}

export default rule({
  title:
    'The path from the control plane to the nodes is broken: webhooks, aggregated APIs and kubelet calls fail alike',
  lookAlikes: [
    'one webhook fails alone: look at its own backend',
    'the tunnel’s agents do not run on the customer’s nodes: then the nodes come first',
    'nodes NotReady: the nodes themselves are gone',
  ],
  judge(facts) {
    const broken = brokenThings(facts);
    const kinds = new Set(broken.map((entry) => entry.kind));
    const agentPods = facts.in('Pod', 'kube-system').filter((pod) => agents.test(pod.metadata.name));
    const agentsDown = agentPods.length > 0 && !agentPods.some(isReady);
    const nodesDown = facts.all('Node').filter(isNotReady).length * 2 > facts.all('Node').length;
    const words = [
      ...facts.events.filter((event) => tunnelWords.test(event.message)).map((event) => event.message),
      ...linesLike(facts, tunnelWords).map((entry) => entry.line),
      ...failedReads(facts, tunnelWords).map((read) => read.gap!.message),
      ...facts
        .all('APIService')
        .map((service) => condition(service, 'Available')?.message ?? '')
        .filter((message) => tunnelWords.test(message)),
    ];
    const independent = [...kinds].filter((kind) => kind !== 'tunnel').length;
    if (nodesDown || independent < 1 || (independent < 3 && words.length === 0)) return [];
    const owner = agentsDown ? 'platform' : controlPlaneOwner(facts);
    const evidence = cite(owner, facts);
    const reads = failedReads(facts, kubeletPort);
    const events = facts.events.filter(
      (event) => /failed calling webhook/.test(event.message) && notReached.test(event.message),
    );
    const services = facts.all('APIService').filter((service) => condition(service, 'Available')?.status === 'False');
    const agentLines = lastPerPod(
      linesLike(facts, /EOF|Unavailable|reset by peer|could not read stream|error reading from server/, (log) =>
        agents.test(log.pod),
      ),
    );
    return [
      {
        mechanism: 'tunnel',
        explains: [
          'webhook',
          'admission-denied',
          'scaling-metrics',
          'scaling-limit',
          'rollout',
          'control-plane',
          'controller-down',
          'pending',
          'job',
          'unknown-symptom',
          'dependency',
        ],
        owner,
        boundary: 'control-plane',
        strength: independent >= 2 ? 'direct' : 'derived',
        cause: text(
          `The ${isManaged(facts) ? `tunnel that ${vendorOf(facts)} runs` : 'path'} from the control plane to the nodes is broken: ${broken
            .map((entry) => entry.what)
            .slice(0, 4)
            .join(
              ', ',
            )} all fail on it${agentsDown ? '; its agents do not run' : ', while nodes and backends are ready'}.`,
        ),
        root: agentPods[0] ? refOf(facts.workloadOf(agentPods[0])) : { kind: 'APIServer', name: facts.identity.name },
        affects: [...broken.flatMap((entry) => entry.refs), { kind: 'Cluster', name: facts.identity.name }],
        onset: earliest(
          ...events.map((event) => event.firstAt),
          ...agentLines.map((entry) => timeOf(entry.line, facts.now)),
        ),
        evidence: [
          ...[...new Map(events.map((event) => [event.message, event])).values()]
            .slice(0, 3)
            .map((event) => evidence.event(event)),
          ...services.slice(0, 2).map((service) => evidence.condition(service, 'Available')),
          ...reads.slice(0, 1).map((read) => readEvidence(owner, facts, read)),
          ...agentLines.slice(0, 1).map((entry) => evidence.log(entry.log, entry.line)),
          ...agentPods.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
        ],
        chain: [
          { object: `tunnel of ${facts.identity.name}`, claim: 'control plane cannot reach the cluster network' },
          ...broken.slice(0, 3).map((entry) => ({ object: entry.what, claim: 'fails' })),
        ],
        nextSteps: [
          text(
            agentsDown
              ? 'Bring the agents back: kubectl -n kube-system get pods -o wide | grep -E "konnectivity|tunnel"'
              : isManaged(facts)
                ? `Open a case with ${vendorOf(facts)}: control plane of ${facts.identity.name} cannot reach nodes (port 10250), webhooks and aggregated APIs.`
                : 'Check routes and firewall from the control plane nodes to pod and node networks (ports 443, 10250).',
          ),
        ],
      },
    ];
  },
});

/** Calls from the control plane into the cluster that fail although what they call is ready. */
const brokenThings = (facts: ClusterFacts): Broken[] => {
  const webhooks = webhookFailures(facts)
    .filter((failure) => {
      const said = [...failure.events.map((event) => event.message), ...failure.lines.map((entry) => entry.line)].join(
        '\n',
      );
      const backend = backendOf(facts, webhookNamed(facts, failure.name)?.entry.clientConfig?.service);
      return notReached.test(said) && backend !== undefined && isServing(backend);
    })
    .map(
      (failure): Broken => ({
        kind: 'webhook',
        what: `webhook ${failure.name}`,
        refs: failure.events.flatMap((event) => {
          const object = facts.resolve(event.regarding);
          return object ? facts.ownerChain(object).map(refOf) : [event.regarding];
        }),
      }),
    );
  const services = facts
    .all('APIService')
    .filter((service) => {
      const available = condition(service, 'Available');
      const backend = backendOf(facts, service.spec?.service);
      return (
        available?.status === 'False' &&
        available.reason === 'FailedDiscoveryCheck' &&
        notReached.test(available.message ?? '') &&
        (backend === undefined || isServing(backend))
      );
    })
    .map(
      (service): Broken => ({
        kind: 'aggregated API',
        what: `APIService ${service.metadata.name}`,
        refs: [refOf(service)],
      }),
    );
  const kubelet =
    [...failedReads(facts, kubeletPort), ...linesLike(facts, kubeletPort)].length > 0 ||
    facts.events.some((event) => kubeletPort.test(event.message));
  return [
    ...webhooks,
    ...services,
    ...(kubelet ? [{ kind: 'kubelet port' as const, what: 'kubelet calls (port 10250)', refs: [] }] : []),
  ];
};
