import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { lastChangeOf } from '../../facts/changes/last-change.ts';
import { troubledSince } from '../../facts/changes/trouble-since.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { onceFor } from '../../facts/lazy.ts';
import { isNotReady, readiness } from '../../facts/nodes/nodes.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { imageOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A node shows within this time what an agent's new version does to it. */
const afterMinutes = 20;
/** Clocks of kubelets and the API server. */
const slackMinutes = 1;
/** A walk older than this is over. */
const recentMinutes = 6 * 60;
/** An agent that starts with its node is no update. */
const settledMinutes = 10;

export default rule({
  title: 'A node agent’s update walks over the nodes, and pods of several workloads fail on each just after it',
  lookAlikes: [
    'agents that start with their new nodes',
    'trouble on nodes that the update has not reached, or before it did',
    'pods of one workload alone: its own matter',
  ],
  judge(facts, scope) {
    return facts
      .all('DaemonSet')
      .filter((set) => ownershipOf(facts, set) === 'platform')
      .flatMap((set) => walkFinding(facts, scope, set));
  },
});

interface Step {
  node: KubeObject;
  agent: KubeObject;
  /** When the agent's new pod was made. */
  at: string;
  /** What went ill on the node just after: pods of others, or the node itself. */
  victims: { object: KubeObject; since: string }[];
}

const walkFinding = (facts: ClusterFacts, scope: Scope, set: KubeObject): FindingDraft[] => {
  const agents = facts.podsOf(set);
  const steps = agents.flatMap((agent) => stepOf(facts, set, agent));
  const hurt = steps.filter((step) => step.victims.length > 0);
  const victims = hurt.flatMap((step) => step.victims);
  const workloads = new Set(
    victims.map(({ object }) => nameOf(object.kind === 'Node' ? object : facts.workloadOf(object))),
  );
  if (hurt.length < 2 || workloads.size < 2 || !victims.some(({ object }) => scope.has(refOf(object)))) return [];
  if (hurt.length * 2 <= steps.length || isElsewhere(facts, set, steps)) return [];
  // All at once is no walk: then anything of that minute may be the cause, unless nodes without the update are well.
  const times = hurt.map((step) => step.at).sort();
  const spared = agents.filter((agent) => !steps.some((step) => step.agent === agent));
  const walks = minutesBetween(times[0], times.at(-1)) >= 2;
  if (!walks && spared.length === 0) return [];
  const change = lastChangeOf(facts, set);
  const former = spared.find((agent) => imageOf(agent) !== imageOf(hurt[0]!.agent));
  const evidence = cite('platform', facts);
  const what = change?.what[0] ?? (former ? `image ${imageOf(former)} → ${imageOf(hurt[0]!.agent)}` : undefined);
  return [
    {
      mechanism: 'node-runtime',
      explains: [
        'network',
        'dns',
        'sandbox-network',
        'probe',
        'crash',
        'application-error',
        'dependency',
        'volume',
        'node-silent',
        'node-pressure',
        'node-not-initialized',
        'image-pull',
        'rollout',
        'unknown-symptom',
      ],
      owner: 'platform',
      boundary: 'node',
      strength: 'derived',
      cause: text(
        `${nameOf(set)} is being updated node by node since ${times[0]}${what ? ` (${what})` : ''}: on ${hurt.length} of the ${steps.length} nodes it has reached, ${victims.length} objects of ${workloads.size} workloads went ill within ${duration(Math.max(...hurt.map(delay)))}${spared.length > 0 ? `; ${spared.length} nodes still run the former pods` : ''}.`,
      ),
      root: refOf(set),
      affects: [...victims.map(({ object }) => object), ...hurt.map((step) => step.node)].map(refOf),
      onset: times[0],
      evidence: [
        ...hurt
          .slice(0, 3)
          .flatMap((step) => [
            evidence.field(step.agent, 'metadata.creationTimestamp', step.at, `on ${step.node.metadata.name}`),
            ...step.victims
              .slice(0, 1)
              .map(({ object, since }) => ({ ...evidence.condition(object, 'Ready'), at: since })),
          ]),
        ...(change?.revision
          ? [evidence.field(change.revision, 'metadata.creationTimestamp', change.at, change.what.join('; '))]
          : []),
        ...(former
          ? [evidence.field(former, 'spec.containers', imageOf(former), 'still runs the former version')]
          : []),
        evidence.field(set, 'status.updatedNumberScheduled'),
      ],
      chain: [
        link(set, `updated node by node since ${times[0]}`),
        ...hurt.slice(0, 2).map((step) => link(step.node, `reached at ${step.at}`)),
        ...victims.slice(0, 2).map(({ object, since }) => link(object, `ill since ${since}`)),
      ],
      nextSteps: [
        text(
          `Stop the walk and go back: ${change?.undo ?? `kubectl rollout undo daemonset/${set.metadata.name} -n ${set.metadata.namespace}`}`,
        ),
        text(`kubectl rollout status daemonset/${set.metadata.name} -n ${set.metadata.namespace}`),
      ],
    },
  ];
};

const delay = (step: Step): number => Math.max(0, ...step.victims.map(({ since }) => minutesBetween(step.at, since)));

const unreadyByNode = onceFor((facts: ClusterFacts) =>
  Map.groupBy(
    facts.all('Pod').filter((pod) => !isReady(pod)),
    (pod) => pod.spec?.nodeName as string | undefined,
  ),
);

const recentSince = onceFor((facts: ClusterFacts): string =>
  new Date(Date.parse(facts.now) - recentMinutes * 60_000).toISOString(),
);

const stepOf = (facts: ClusterFacts, set: KubeObject, agent: KubeObject): Step[] => {
  const at = agent.metadata.creationTimestamp;
  // Both are ISO 8601 in UTC, and there are many agents: no time is parsed for those that are long settled.
  if (!at || at < recentSince(facts)) return [];
  const node = facts.nodeOf(agent);
  if (!node) return [];
  if (minutesBetween(node.metadata.creationTimestamp, at) < settledMinutes) return [];
  const isAfter = (since: string | undefined): boolean => {
    const minutes = minutesBetween(at, since);
    return minutes >= -slackMinutes && minutes <= afterMinutes;
  };
  const pods = (unreadyByNode(facts).get(node.metadata.name) ?? [])
    .filter((pod) => facts.workloadOf(pod) !== set)
    .map((object) => ({ object, since: troubledSince(facts, object) }));
  const lost = isNotReady(node) ? [{ object: node, since: readiness(node)?.lastTransitionTime }] : [];
  const victims = [...pods, ...lost].filter(
    (victim): victim is { object: KubeObject; since: string } => victim.since !== undefined && isAfter(victim.since),
  );
  return [{ node, agent, at, victims }];
};

/** The same workloads fail on nodes that the update has not reached, or failed before it came. */
const isElsewhere = (facts: ClusterFacts, set: KubeObject, steps: Step[]): boolean => {
  const reached = new Set(steps.map((step) => step.node.metadata.name));
  const workloads = new Set(steps.flatMap((step) => step.victims.map(({ object }) => facts.workloadOf(object))));
  const known = new Set(steps.flatMap((step) => step.victims.map(({ object }) => object)));
  const others = facts
    .all('Pod')
    .filter((pod) => pod.spec?.nodeName && !known.has(pod) && !isReady(pod) && facts.workloadOf(pod) !== set)
    .filter((pod) => workloads.has(facts.workloadOf(pod)) && troubledSince(facts, pod) !== undefined);
  const began = earliest(...steps.map((step) => step.at));
  return others.some(
    (pod) => !reached.has(pod.spec.nodeName) || (troubledSince(facts, pod) ?? facts.now) < (began ?? ''),
  );
};
