import { keyOf, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { nodeIsShort, type OomKill, oomKillsOf } from '../../facts/nodes/oom.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { earliest } from '../../facts/time.ts';
import {
  containerOf,
  containerPath,
  envOf,
  isInjected,
  rolloutBefore,
  templateSpecOf,
} from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Variables by which runtimes are told how much of the limit they may take for their heap. */
const heapVariables = [
  'JAVA_TOOL_OPTIONS',
  'JAVA_OPTS',
  '_JAVA_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'NODE_OPTIONS',
  'GOMEMLIMIT',
];
const memoryLine = /\b(rss|heap|working ?set|out of memory|OutOfMemory|oom|memory)\b/i;

export default rule({
  title: 'A container is killed by its own memory limit (OOMKilled) while its node has memory',
  lookAlikes: [
    'the node itself ran out of memory (SystemOOM, MemoryPressure): the culprit is another',
    'a sidecar that an admission webhook injected: its limit is not in the workload',
    'exit code 137 with reason Error: a kill by grace period or liveness probe',
  ],
  judge(facts, scope) {
    const kills = scope.pods
      .flatMap((pod) => oomKillsOf(facts, pod))
      .filter((kill) => kill.limit && !nodeIsShort(facts, kill.pod));
    const byContainer = groupBy(kills, (kill) => `${keyOf(refOf(facts.workloadOf(kill.pod)))}/${kill.container}`);
    return byContainer.map((group): FindingDraft => {
      const kill = group[0]!;
      const workload = facts.workloadOf(kill.pod);
      const injected = isInjected(facts, kill.pod, kill.container);
      const owner = injected ? 'platform' : ownershipOf(facts, kill.pod);
      const evidence = cite(owner, facts);
      const onset = earliest(...group.map((entry) => entry.finishedAt));
      const rollout = rolloutBefore(facts, workload, onset ?? facts.now, 24 * 60);
      const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
      const heap = heapSetting(kill);
      const restarts = Math.max(...group.map((entry) => entry.restarts));
      const defaulted = !injected && !templateLimit(facts, kill);
      const why = [
        heap ? `${heap.name}=${heap.value} has to fit into it with all that is not heap` : '',
        rollout
          ? `since the rollout at ${rollout.at}${changes.length ? ` (${changes.slice(0, 2).join('; ')})` : ''}`
          : '',
        injected ? 'the container was injected at admission, the workload does not declare it' : '',
        defaulted ? 'the limit comes from the namespace (LimitRange or VPA), the template sets none' : '',
      ].filter(Boolean);
      const lines = grep(
        facts,
        group.map((entry) => entry.pod),
        memoryLine,
      ).filter((line) => line.log.container === kill.container);
      return {
        mechanism: 'oom',
        explains: [
          'crash',
          'probe',
          'application-error',
          'dependency',
          'rollout',
          'scaling-metrics',
          'unknown-symptom',
        ],
        owner,
        boundary: 'application',
        strength: kill.pod.metadata.annotations?.vpaUpdates ? 'derived' : 'direct',
        cause: text(
          `Container ${kill.container} of ${nameOf(workload)} is killed by its own memory limit of ${kill.limit} (OOMKilled, exit 137, up to ${restarts} restarts) while its node has memory${why.length ? `: ${why.join('; ')}` : ''}.`,
        ),
        root: refOf(workload),
        affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
        onset: rollout?.at ?? onset,
        evidence: [
          ...group
            .slice(0, 2)
            .map((entry) =>
              evidence.field(
                entry.pod,
                `status.containerStatuses[${entry.container}].lastState.terminated`,
                `OOMKilled, exit 137 at ${entry.finishedAt}, ${entry.restarts} restarts`,
              ),
            ),
          evidence.field(kill.pod, containerPath(kill.pod, kill.container, 'resources.limits.memory'), kill.limit),
          ...(heap
            ? [evidence.field(kill.pod, containerPath(kill.pod, kill.container, `env[${heap.name}]`), heap.value)]
            : []),
          ...(rollout
            ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; '))]
            : []),
          ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
        ],
        chain: [
          link(workload, `limits container ${kill.container} to ${kill.limit}`),
          ...group.slice(0, 3).map((entry) => link(entry.pod, `OOMKilled at ${entry.finishedAt}`)),
        ],
        contributing: defaulted
          ? [
              {
                owner: 'platform',
                action: text('Check whether the default memory limit of the namespace fits this workload.'),
              },
            ]
          : [],
        nextSteps: [
          text(
            `Compare what ${kill.container} needs with its limit: kubectl top pod -n ${kill.pod.metadata.namespace} --containers; then lower its use or raise resources.limits.memory above ${kill.limit}.`,
          ),
          ...(rollout
            ? [
                text(
                  `To stop the restarts now: kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
                ),
              ]
            : []),
        ],
      };
    });
  },
});

const heapSetting = (kill: OomKill): { name: string; value: string } | undefined => {
  const container = containerOf(kill.pod, kill.container);
  for (const name of heapVariables) {
    const value = envOf(container, name);
    if (value && (name === 'GOMEMLIMIT' || /RAMPercentage|-Xmx|max-old-space|MaxRAM/.test(value)))
      return { name, value };
  }
  return undefined;
};

const templateLimit = (facts: ClusterFacts, kill: OomKill): boolean => {
  const spec = templateSpecOf(facts, kill.pod);
  if (!spec) return true;
  const container = containerOf({ kind: 'Pod', metadata: { name: '' }, spec }, kill.container);
  return Boolean(container?.resources?.limits?.memory ?? spec.resources?.limits?.memory);
};
