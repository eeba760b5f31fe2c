import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const voluntary = /underutilized|empty|drifted|consolidat/i;
const disrupting = /disrupting (?:node|via|nodeclaim)|disrupting node\(s\)/i;
/** A change older than this has been lived with. */
const recentMinutes = 48 * 60;
/** The third disruption since is a habit. */
const leastDisruptions = 3;
/** One disruption is told by a log line and by events within minutes of each other; pods are made anew in its wake. */
const togetherMinutes = 10;
const sameMinutes = 2;

export default rule({
  title: 'A NodePool’s disruption was loosened, and Karpenter has taken nodes under the workload again and again since',
  lookAlikes: [
    'a pool whose disruption is as it was: the workload has lived with it',
    'a workload that was rolled out since: its own pods are new',
    'spot reclaims and expiry: not the pool’s budgets',
  ],
  judge(facts, scope) {
    return scope.wide ? [] : scope.workloads.flatMap((workload) => loosenedFinding(facts, workload));
  },
});

const loosenedFinding = (facts: ClusterFacts, workload: KubeObject): FindingDraft[] => {
  const pods = facts.podsOf(workload);
  const pool = facts
    .all('NodePool')
    .filter(({ metadata }) =>
      pods.some((pod) => facts.nodeOf(pod)?.metadata.labels?.['karpenter.sh/nodepool'] === metadata.name),
    )
    .find((entry) => isRecent(facts, lastWriter(entry, 'f:disruption')?.time));
  const write = pool && lastWriter(pool, 'f:disruption');
  const at = write?.time;
  if (!pool || !at) return [];
  const rollout = rolloutOf(facts, workload);
  if (rollout && rollout.at >= at) return [];
  const all = disruptionsOf(facts);
  const since = all.filter((entry) => entry.at >= at);
  const before = all.filter((entry) => entry.at < at);
  if (since.length < leastDisruptions || before.length >= since.length) return [];
  const evicted = podEventsOf(facts, workload, /^Evicted$/).filter((event) => voluntary.test(event.message));
  const renewed = pods.filter((pod) =>
    since.some((entry) => {
      const minutes = minutesBetween(entry.at, pod.metadata.creationTimestamp);
      return minutes >= 0 && minutes <= togetherMinutes;
    }),
  );
  if (evicted.length + renewed.length === 0) return [];
  const evidence = cite('platform', facts);
  const { budgets, consolidateAfter, consolidationPolicy } = pool.spec?.disruption ?? {};
  const noted = Object.entries(pool.metadata.annotations ?? {}).filter(([key]) => /budget|disrupt/i.test(key));
  const now = `budgets ${JSON.stringify(budgets ?? 'default 10%')}, consolidateAfter ${consolidateAfter ?? '0s'}`;
  return [
    {
      mechanism: 'node-churn',
      explains: [
        'eviction',
        'probe',
        'application-error',
        'dependency',
        'rollout',
        'load',
        'traffic',
        'pending',
        'scheduling',
        'node-removed',
        'unknown-symptom',
      ],
      owner: 'platform',
      boundary: 'provisioning',
      strength: 'derived',
      cause: text(
        `The disruption of NodePool ${pool.metadata.name} was changed at ${at}${write.manager ? ` by ${write.manager}` : ''} (now ${now}); since then Karpenter disrupted nodes ${since.length} times${before.length > 0 ? ` (${before.length} before)` : ''} and moved pods of ${nameOf(workload)}.`,
      ),
      root: refOf(pool),
      affects: [workload, ...pods].map(refOf),
      onset: at,
      evidence: [
        evidence.field(pool, 'spec.disruption', { consolidationPolicy, consolidateAfter, budgets }),
        evidence.field(pool, 'metadata.managedFields', { manager: write.manager, time: at }),
        ...noted.slice(0, 1).map(([key, value]) => evidence.field(pool, `metadata.annotations[${key}]`, value)),
        ...[...new Set([since[0]!, since.at(-1)!])].map(({ said }) =>
          'log' in said ? evidence.log(said.log, said.text) : evidence.event(said),
        ),
        ...evicted.slice(-1).map((event) => evidence.event(event)),
      ],
      chain: [
        link(pool, `disrupts nodes more freely since ${at}`),
        link(workload, `${Math.max(evicted.length, renewed.length)} pods moved`),
      ],
      contributing: [
        {
          owner: 'app',
          action: text(
            `Make ${nameOf(workload)} bear a move: drain connections slowly, and let clients reconnect spread out.`,
          ),
        },
      ],
      nextSteps: [
        text(
          `Put the former budgets back where the change came from; meanwhile: kubectl patch nodepool ${pool.metadata.name} --type merge -p '{"spec":{"disruption":{"budgets":[{"nodes":"0"}]}}}'`,
        ),
      ],
    },
  ];
};

const isRecent = (facts: ClusterFacts, time: string | undefined): boolean =>
  time !== undefined && minutesBetween(time, facts.now) <= recentMinutes;

interface Disruption {
  at: string;
  said: PodLogLine | KubeEvent;
}

/** What Karpenter took by its own choice, once each, oldest first. */
const disruptionsOf = (facts: ClusterFacts): Disruption[] => {
  const controllers = loggedPods(facts).filter((pod) => pod.metadata.name.startsWith('karpenter'));
  const logged = grep(facts, controllers, disrupting)
    .filter(({ text }) => voluntary.test(text))
    .flatMap((said): Disruption[] => (said.at ? [{ at: said.at, said }] : []));
  const told = facts.events
    .filter(({ reason, message }) => reason === 'DisruptionTerminating' && voluntary.test(message))
    .map((said): Disruption => ({ at: said.lastAt, said }));
  return [...logged, ...told]
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .filter(({ at }, index, all) => index === 0 || minutesBetween(all[index - 1]!.at, at) >= sameMinutes);
};
