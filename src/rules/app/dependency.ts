import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, isTroubled, terminations } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import {
  backendsNamed,
  complaintsOf,
  externalHost,
  isClusterName,
  type PeerComplaint,
  serviceNamed,
} from '../../facts/workloads/dependencies.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

interface Judged {
  owner: Owner;
  boundary: Boundary | null;
  strength: Strength;
  cause: string;
  root: KubeObject;
  culprits: KubeObject[];
  step: string;
  missing?: FindingDraft['missing'];
}

/** Complaints that ended so long ago say nothing about now. */
const recentMinutes = 90;

export default rule({
  title:
    'A workload cannot work because of what it calls: a name that does not exist, a service that is down, a partner that does not answer',
  lookAlikes: [
    'names fail to resolve for several workloads: cluster DNS',
    'a peer inside the cluster has no ready pod: the owner of the peer',
    'a third party accepts connections and does not answer: nobody inside can prove whose fault it is',
  ],
  judge(facts, scope) {
    const complaints = complaintsOf(facts, scope.pods).filter(
      (entry) => !entry.line.at || minutesBetween(entry.line.at, facts.now) <= recentMinutes,
    );
    const groups = groupBy(complaints, (entry) => `${nameOf(facts.workloadOf(entry.pod))}/${entry.fault}`);
    return groups.flatMap((group) => dependencyFinding(facts, scope.pods, group));
  },
});

const dependencyFinding = (facts: ClusterFacts, pods: KubeObject[], group: PeerComplaint[]): FindingDraft[] => {
  const named = group.filter((entry) => entry.host);
  const entry = named.at(-1) ?? group.at(-1)!;
  const workload = facts.workloadOf(entry.pod);
  const judged = judgeComplaint(facts, entry, workload);
  if (!judged) return [];
  const evidence = cite(judged.owner === 'undetermined' ? 'app' : judged.owner, facts);
  const victims = pods.filter((pod) => facts.workloadOf(pod) === workload);
  const lines = [...named.slice(0, 1), ...group.slice(-2), ...named.slice(-1)];
  return [
    {
      mechanism: 'dependency',
      explains: ['crash', 'probe', 'application-error', 'rollout', 'unknown-symptom'],
      owner: judged.owner,
      boundary: judged.boundary,
      strength: judged.strength,
      cause: text(judged.cause),
      root: refOf(judged.root),
      affects: [workload, ...victims, ...victims.slice(0, 1).flatMap((pod) => facts.servicesOf(pod))].map(refOf),
      onset: earliest(...group.map((item) => item.line.at)),
      evidence: [
        ...[...new Set(lines)].map((item) => evidence.log(item.line.log, item.line.text)),
        ...judged.culprits.slice(0, 2).flatMap((pod) =>
          terminations(pod)
            .slice(0, 1)
            .map((end) =>
              evidence.field(
                pod,
                `status.containerStatuses[${end.container}]`,
                `${end.terminated.reason}, exit ${end.terminated.exitCode}, ${end.restartCount} restarts`,
              ),
            ),
        ),
        ...judged.culprits.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
        ...brokerEvidence(facts, entry, evidence),
      ],
      chain: [
        link(judged.root, judged.root === workload ? `calls ${entry.host ?? 'a peer'}` : 'has no ready pod'),
        ...judged.culprits.slice(0, 2).map((pod) => link(pod, 'not ready')),
        ...(judged.root === workload ? [] : [link(workload, `calls ${entry.host}`)]),
        ...victims.slice(0, 2).map((pod) => link(pod, 'fails with it')),
      ],
      contributing: [],
      nextSteps: [text(judged.step)],
      missing: judged.missing ?? [],
    },
  ];
};

const judgeComplaint = (facts: ClusterFacts, entry: PeerComplaint, workload: KubeObject): Judged | undefined => {
  const namespace = workload.metadata.namespace ?? '';
  const owner = ownershipOf(facts, workload);
  const { host } = entry;
  const backends = host ? backendsNamed(facts, host, namespace) : [];
  const down = backends.find(
    (backend) => backend !== workload && facts.podsOf(backend).length > 0 && !facts.podsOf(backend).some(isReady),
  );
  const me = nameOf(workload);
  if (down && (entry.fault === 'refused' || entry.fault === 'no-answer')) return peerDown(facts, workload, down, host!);
  switch (entry.fault) {
    case 'unknown-name':
      return unknownName(facts, entry, workload);
    case 'credentials':
      return {
        owner,
        boundary: 'config',
        strength: 'derived',
        cause: `${me} is refused by what it calls: its credentials are not accepted.`,
        root: workload,
        culprits: [],
        step: 'Compare the credential of the workload with what the peer expects; look for a rotation that reached only one side.',
      };
    case 'exhausted':
      return {
        owner,
        boundary: 'application',
        strength: 'derived',
        cause: `${me} gets no connection: the connections of its database or pool are used up.`,
        root: workload,
        culprits: [],
        step: 'Compare replicas × pool size with the limit of the database; find connections that are not returned.',
      };
    case 'no-answer':
      return externalHost(facts, host, namespace) || !host ? thirdParty(workload, entry) : undefined;
    case 'refused':
      return (
        wrongPort(facts, entry, workload) ??
        (externalHost(facts, host, namespace) ? thirdParty(workload, entry) : undefined)
      );
  }
};

/** A peer that crashes is its owner's matter; one that cannot start or lost its node has causes of its own to find. */
const peerDown = (facts: ClusterFacts, workload: KubeObject, down: KubeObject, host: string): Judged => {
  const culprits = facts.podsOf(down).filter(isTroubled);
  const crashed = culprits.some((pod) => terminations(pod).some((end) => end.terminated.exitCode !== 0));
  return {
    owner: crashed ? ownershipOf(facts, down) : 'undetermined',
    boundary: 'application',
    strength: 'derived',
    cause: `${nameOf(workload)} fails because ${nameOf(down)}, which it calls as ${host}, has no ready pod.`,
    root: down,
    culprits,
    step: `kubectl describe pods -n ${down.metadata.namespace}; repair ${nameOf(down)} first.`,
    missing: crashed
      ? []
      : [
          {
            layer: 'platform',
            missing: `why the pods of ${nameOf(down)} are not ready`,
            fix: `faultline triage ${down.kind}/${down.metadata.name} -n ${down.metadata.namespace}`,
          },
        ],
  };
};

/** NXDOMAIN is an answer: DNS works and the name does not exist, unless others cannot resolve either. */
const unknownName = (facts: ClusterFacts, entry: PeerComplaint, workload: KubeObject): Judged | undefined => {
  const others = facts.all('Pod').filter((pod) => facts.workloadOf(pod) !== workload);
  const dnsTrouble = complaintsOf(facts, others).some(
    (other) => other.fault === 'unknown-name' && other.host !== entry.host,
  );
  const resolvers = facts.all('Pod').filter((pod) => /^(coredns|kube-dns|node-local-dns)/.test(pod.metadata.name));
  const sick = resolvers.length > 0 && resolvers.some((pod) => !isReady(pod));
  const resolverErrors = grep(facts, resolvers, /plugin\/errors|SERVFAIL|i\/o timeout|Loop .* detected/).length > 0;
  const sometimes = grep(
    facts,
    facts.podsOf(workload),
    /Temporary failure|EAI_AGAIN|server misbehaving|:53: i\/o timeout/,
  );
  if (dnsTrouble || sick || resolverErrors || sometimes.length > 0 || !entry.host) return undefined;
  const rollout = rolloutBefore(facts, workload, entry.line.at ?? facts.now, 24 * 60);
  const changes = rollout?.previous
    ? templateChanges(rollout.previous, rollout.current).filter(
        (change) => change.includes('env') || change.includes('image'),
      )
    : [];
  const service = serviceNamed(facts, entry.host, workload.metadata.namespace ?? '');
  if (service) return undefined;
  return {
    owner: ownershipOf(facts, workload),
    boundary: 'config',
    // A JVM says UnknownHostException for every failed lookup; "no such host" and ENOTFOUND are answers of the resolver.
    strength: /UnknownHost/.test(entry.line.text)
      ? 'circumstantial'
      : isClusterName(entry.host) || knownAbsent(facts, entry.host) || changes.length > 0
        ? 'direct'
        : 'derived',
    cause: `${nameOf(workload)} calls ${entry.host}, a name that does not exist (no such host); other workloads resolve names${changes[0] ? `; its template changed at ${rollout!.at} (${changes[0]})` : ''}.`,
    root: workload,
    culprits: [],
    step: `Correct the host ${entry.host} in the configuration of ${nameOf(workload)}, or bring back what it named: nslookup ${entry.host}`,
  };
};

/** The cloud's own list of brokers or databases was read and does not hold the host's id. */
const knownAbsent = (facts: ClusterFacts, host: string): boolean => listing(facts, host) !== undefined;

const listing = (facts: ClusterFacts, host: string): { call: string; path: string; value: unknown } | undefined => {
  const id = host.split('.')[0]!.replace(/-\d+$/, '');
  const calls = [
    ['mq.listBrokers', 'BrokerSummaries', /\.mq\./],
    ['rds.describeDBInstances', 'DBInstances', /\.rds\./],
  ] as const;
  for (const [call, path, pattern] of calls) {
    const list = facts.cloud(call)?.[path];
    if (pattern.test(host) && Array.isArray(list) && !JSON.stringify(list).includes(id))
      return { call, path, value: list };
  }
  return undefined;
};

const brokerEvidence = (facts: ClusterFacts, entry: PeerComplaint, evidence: ReturnType<typeof cite>) => {
  const found = entry.fault === 'unknown-name' && entry.host ? listing(facts, entry.host) : undefined;
  return found ? [evidence.aws(found.call, found.path, found.value, `does not hold ${entry.host}`)] : [];
};

const wrongPort = (facts: ClusterFacts, entry: PeerComplaint, workload: KubeObject): Judged | undefined => {
  const service = entry.host && serviceNamed(facts, entry.host, workload.metadata.namespace ?? '');
  const ports: any[] = service ? (service.spec?.ports ?? []) : [];
  if (!service || !entry.port || ports.length === 0 || ports.some((port) => String(port.port) === entry.port))
    return undefined;
  return {
    owner: ownershipOf(facts, workload),
    boundary: 'config',
    strength: 'direct',
    cause: `${nameOf(workload)} calls ${entry.host}:${entry.port}, but ${nameOf(service)} offers ${ports.map((port) => port.port).join(', ')}.`,
    root: workload,
    culprits: [],
    step: `Correct the port in the configuration of ${nameOf(workload)}.`,
  };
};

const thirdParty = (workload: KubeObject, entry: PeerComplaint): Judged => ({
  owner: 'undetermined',
  boundary: null,
  strength: entry.host ? 'derived' : 'circumstantial',
  cause: `${nameOf(workload)} gets no answer from ${entry.host ?? 'a peer outside'}; whether the peer, the way to it or the requests are at fault cannot be proven from inside the cluster.`,
  root: workload,
  culprits: [],
  step: `Call ${entry.host ?? 'the peer'} from outside the cluster and read its status page.`,
  missing: [
    {
      layer: 'app',
      missing: `the state of ${entry.host ?? 'the peer'}`,
      fix: "read the partner's status page, and make the same call from outside",
    },
    {
      layer: 'platform',
      missing: 'egress counters',
      fix: 'NAT gateway and firewall metrics of the last hour (ErrorPortAllocation, PacketsDropCount)',
    },
  ],
});
