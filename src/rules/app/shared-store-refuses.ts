import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A state in which a broker, cache or database lives and refuses work: its own words, and what its clients get. */
interface Refusal {
  what: string;
  server: RegExp;
  client: RegExp;
  boundary: Boundary;
}

const refusals: Refusal[] = [
  {
    what: 'has raised its disk alarm and blocks publishers',
    server: /disk resource limit alarm set|disk free (?:space )?(?:is )?(?:insufficient|below)/i,
    client: /connection[ .]blocked|blocked by (?:the )?broker|low on disk|basic\.publish.*block/i,
    boundary: 'storage',
  },
  {
    what: 'has raised its memory alarm and blocks publishers',
    server: /memory resource limit alarm set/i,
    client: /connection[ .]blocked|blocked by (?:the )?broker|low on memory/i,
    boundary: 'application',
  },
  {
    what: 'has passed the flood stage of its disk and made indices read-only',
    server: /flood.?stage disk watermark .*exceeded/i,
    client: /FORBIDDEN\/12|read-only-allow-delete|flood-stage watermark|cluster_block_exception/i,
    boundary: 'storage',
  },
  {
    what: 'cannot save its snapshot and takes no writes',
    server: /Background saving error|Failed opening the (?:temp )?RDB file|Write error saving DB on disk/i,
    client: /MISCONF/,
    boundary: 'storage',
  },
  {
    what: 'has no space left on its disk',
    server: /no space left on device|could not extend file|Disk is full writing|ENOSPC|minimum free drive threshold/i,
    client:
      /could not extend file|no space left|disk (?:is )?full|ENOSPC|KAFKA_STORAGE_ERROR|NotEnoughReplicas|No leader|XMinioStorageFull|table .* is full/i,
    boundary: 'storage',
  },
  {
    what: 'has used up the memory it may use and refuses writes',
    server: /used memory > 'maxmemory'|maxmemory .*(?:reached|exceeded)/i,
    client: /OOM command not allowed/,
    boundary: 'config',
  },
  {
    what: 'is sealed',
    server: /vault is sealed|core: (?:vault is )?seal(?:ed|ing)/i,
    client: /vault is sealed/i,
    boundary: 'config',
  },
  {
    what: 'has too few replicas in sync or no leader',
    server: /NotEnoughReplicas|not enough in-?sync replicas|No cluster leader|lost quorum|no leader elected/i,
    client: /NotEnoughReplicas|NOT_ENOUGH_REPLICAS|No cluster leader|NotMasterOrSecondary|no primary|NOT_LEADER/i,
    boundary: 'application',
  },
  {
    what: 'takes no writes, since it protects itself from a wraparound',
    server: /not accepting commands.*wraparound|to avoid wraparound data loss/i,
    client: /not accepting commands.*wraparound/i,
    boundary: 'application',
  },
];

/** Words older than this are of another incident. */
const recentMinutes = 6 * 60;

export default rule({
  title: 'A broker, cache or database says itself why it takes no work, and its clients get that answer',
  lookAlikes: [
    'a peer that has no ready pod, or does not answer: what it says is not known',
    'a release whose first calls fail: it may call wrongly',
    'the workload’s own disk or memory is full: its own words, not a peer’s',
  ],
  judge(facts, scope) {
    const mine = new Set(scope.pods);
    const others = loggedPods(facts).filter((pod) => !mine.has(pod));
    return refusals
      .flatMap((refusal) => {
        const heard = recent(facts, grep(facts, scope.pods, refusal.client));
        if (heard.length === 0) return [];
        const told = recent(facts, grep(facts, others, refusal.server)).filter(
          ({ text }) => !/\bclient\b|upstream/i.test(text),
        );
        const stores = groupBy(told, (line) => nameOf(workloadOf(facts, line)));
        const called = stores.filter((lines) => isCalled(facts, workloadOf(facts, lines[0]!), scope.pods));
        const store = called[0] ?? (stores.length === 1 ? stores[0] : undefined);
        return store ? [findingOf(facts, refusal, scope.pods, store, heard, others)] : [];
      })
      .slice(0, 1);
  },
});

const podOf = (facts: ClusterFacts, { log }: PodLogLine): KubeObject =>
  facts.find('Pod', log.pod, log.namespace) ?? { kind: 'Pod', metadata: { name: log.pod, namespace: log.namespace } };

const workloadOf = (facts: ClusterFacts, line: PodLogLine): KubeObject => facts.workloadOf(podOf(facts, line));

const recent = (facts: ClusterFacts, lines: PodLogLine[]): PodLogLine[] =>
  lines.filter((line) => !line.at || minutesBetween(line.at, facts.now) <= recentMinutes);

/** Its clients name it: `‹name›.‹namespace›` in their environment or their log. */
const isCalled = (facts: ClusterFacts, store: KubeObject, clients: KubeObject[]): boolean => {
  const { name, namespace } = store.metadata;
  const services = facts.podsOf(store).flatMap((pod) => facts.servicesOf(pod).map((service) => service.metadata.name));
  const hosts = [name, ...services].map((host) => `${host}.${namespace}`);
  const says = (words: string): boolean => hosts.some((host) => words.includes(host));
  return clients.some((pod) => says(JSON.stringify(pod.spec ?? {})) || facts.logsOf(pod).some((log) => says(log.text)));
};

const findingOf = (
  facts: ClusterFacts,
  refusal: Refusal,
  pods: KubeObject[],
  told: PodLogLine[],
  heard: PodLogLine[],
  others: KubeObject[],
): FindingDraft => {
  const store = workloadOf(facts, told[0]!);
  const owner = ownershipOf(facts, store);
  const evidence = cite(owner, facts);
  const victims = [...new Set(heard.map((line) => workloadOf(facts, line)))];
  const alike = recent(facts, grep(facts, others, refusal.client)).filter(
    (line) => workloadOf(facts, line) !== store && line.log.namespace !== victims[0]!.metadata.namespace,
  );
  const first = told[0]!;
  return {
    mechanism: 'dependency',
    explains: [
      'dependency',
      'crash',
      'probe',
      'application-error',
      'rollout',
      'traffic',
      'load',
      'job',
      'unknown-symptom',
    ],
    owner,
    boundary: refusal.boundary,
    strength: 'direct',
    cause: text(
      `${nameOf(store)} ${refusal.what}${first.at ? ` since ${first.at}` : ''} (“${first.text.slice(0, 120)}”); ${victims.map(nameOf).join(', ')} cannot work without it${alike.length > 0 ? `, nor can ${[...new Set(alike.map((line) => nameOf(workloadOf(facts, line))))].join(', ')}` : ''}.`,
    ),
    root: refOf(store),
    // Clients that a release started anew meet the refusal later than they came: their own start proves nothing.
    affects: [...victims, ...pods, store].map(refOf),
    evidence: [
      ...[...new Set([first, told.at(-1)!])].map((line) => evidence.log(line.log, line.text)),
      ...[...new Set([heard[0]!, heard.at(-1)!])].map((line) => evidence.log(line.log, line.text)),
      ...alike.slice(0, 1).map((line) => evidence.log(line.log, line.text)),
    ],
    chain: [
      link(store, refusal.what),
      ...victims.slice(0, 2).map((victim) => link(victim, 'gets no answer it can work with')),
    ],
    contributing: [],
    nextSteps: [
      text(
        refusal.boundary === 'storage'
          ? `Give ${nameOf(store)} room: enlarge its volume or free what it keeps, then see that the alarm clears: kubectl get pvc -n ${store.metadata.namespace}; kubectl logs -n ${store.metadata.namespace} ${first.log.pod} -c ${first.log.container}`
          : `Repair ${nameOf(store)} first: kubectl logs -n ${store.metadata.namespace} ${first.log.pod} -c ${first.log.container}`,
      ),
    ],
  };
};
