import type { ProbeAnswer } from '../../domain/facts.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { leaseAgeMinutes } from '../../facts/nodes/nodes.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const apiTarget = /^KubeAPI(Down|InstanceUnreachable)$/;
const kubeletTarget = /^Kubelet(Down|InstanceUnreachable)$/;
/** What a collector says when it may not, or cannot, find or reach its targets. */
const complaint =
  /is forbidden|cannot list resource|Failed to (list|watch)|Scrape failed|server returned HTTP status 40[13]|x509/;
const proxyTarget = /^KubeProxy(Down|InstanceUnreachable)$/;

export default rule({
  title: 'Prometheus has lost a target that lives: the API server answers, nodes are Ready and renew their leases',
  lookAlikes: [
    'the target really is down: readiness fails, nodes are silent',
    'the alert has resolved: the API server was away for a while, and is back',
  ],
  judge(facts) {
    const names = facts.alerts.map((alert) => alert.labels.alertname ?? '');
    if (
      names.length === 0 ||
      !names.every((name) => apiTarget.test(name) || kubeletTarget.test(name) || proxyTarget.test(name))
    )
      return [];
    const ready = facts.probe('readyz');
    const nodes = facts.all('Node');
    const leases = facts.all('Lease').filter((lease) => lease.metadata.namespace === 'kube-node-lease');
    const alive =
      ready?.status === 200 &&
      ready.latencyMs < 1000 &&
      nodes.every((node) => isTrue(node, 'Ready')) &&
      leases.every((lease) => leaseAgeMinutes(facts, lease) < 2);
    if (!alive || (nodes.length === 0 && leases.length === 0)) return [];
    if (apiTarget.test(names[0]!) && facts.alerts.every((alert) => alert.status === 'resolved'))
      return returned(facts, names[0]!, ready);
    const evidence = cite('platform', facts);
    return [
      {
        mechanism: 'heartbeat',
        explains: ['control-plane', 'unknown-symptom', 'node-silent'],
        owner: 'platform',
        boundary: 'config',
        strength: 'derived',
        cause: text(
          `${[...new Set(names)].join(' and ')}: the target is alive (readyz 200 in ${ready.latencyMs} ms, all ${nodes.length} nodes Ready with fresh leases); Prometheus has lost sight of it.`,
        ),
        root: { kind: 'Alert', name: names[0]! },
        affects: 'cluster',
        onset: facts.alerts[0]!.startsAt,
        evidence: [
          evidence.probe(ready),
          alertEvidence('platform', facts.alerts[0]!),
          ...lastPerPod(linesLike(facts, complaint, (log) => /^(prometheus|vmagent|grafana-agent|alloy)/.test(log.pod)))
            .slice(0, 2)
            .map((entry) => evidence.log(entry.log, entry.line)),
          ...leases.slice(0, 1).map((lease) => evidence.field(lease, 'spec.renewTime')),
        ],
        chain: [{ object: `scrape job ${facts.alerts[0]!.labels.job ?? ''}`, claim: 'no target' }],
        nextSteps: [
          text(
            'Check service discovery, relabelling and credentials of the scrape job: Prometheus /targets, kubectl get servicemonitor,endpointslice -A',
          ),
        ],
      },
    ];
  },
});

/** Who could not reach the API server meanwhile, and why it was away. */
const away = /(?:443|6443)\S*.*(?:connection refused|i\/o timeout|no route to host)|connect: connection refused/;
const upgrading = /UpgradeEvent|targetVersion|control plane (?:upgrade|update)|master upgrade/i;

/** A gap that has ended: the alert is resolved and the API server answers. */
const returned = (facts: ClusterFacts, name: string, ready: ProbeAnswer): FindingDraft[] => {
  const evidence = cite('platform', facts);
  const since = facts.alerts.map((alert) => alert.startsAt).sort()[0]!;
  const until = facts.alerts
    .map((alert) => alert.endsAt)
    .sort()
    .at(-1)!;
  const gap = facts
    .series('up')
    .find(({ labels, points }) => /apiserver/.test(labels.job ?? '') && points.some(([, value]) => value === 0));
  const why = linesLike(facts, upgrading);
  const elected = facts.events.filter((event) => /became leader/.test(event.message));
  return [
    {
      mechanism: 'heartbeat',
      explains: ['control-plane', 'unknown-symptom', 'node-silent', 'api-flood', 'crash', 'probe'],
      state: 'over',
      owner: 'undetermined',
      boundary: null,
      strength: 'derived',
      cause: text(
        `${name} fired at ${since} and resolved at ${until}: the API server was away${why.length > 0 ? ' for an upgrade of the control plane' : ''} and answers again (readyz 200 in ${ready.latencyMs} ms).`,
      ),
      root: { kind: 'Alert', name },
      affects: 'cluster',
      onset: since,
      evidence: [
        evidence.probe(ready),
        alertEvidence('platform', facts.alerts[0]!),
        ...(gap ? [evidence.series(gap, `0 for a while, now ${gap.points.at(-1)?.[1]}`)] : []),
        ...why.slice(-1).map((entry) => evidence.log(entry.log, entry.line)),
        ...elected.slice(-1).map((event) => evidence.event(event)),
        ...lastPerPod(linesLike(facts, away))
          .slice(0, 1)
          .map((entry) => evidence.log(entry.log, entry.line)),
      ],
      chain: [{ object: `API server of ${facts.identity.name}`, claim: `away from ${since} to ${until}` }],
      nextSteps: [
        text(
          'Nothing to do now. A control plane with one replica is away while it is upgraded: choose a quiet window, or a regional cluster.',
        ),
      ],
    },
  ];
};
