import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { amount } from '../../facts/capacity/requests.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { containerOf } from '../../facts/workloads/workloads.ts';
import { rule } from '../../triage/rule.ts';

const types = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
const resourceOf: Record<(typeof types)[number], RegExp> = {
  MemoryPressure: /memory/,
  DiskPressure: /ephemeral-storage|inodes|disk|imagefs|nodefs/,
  PIDPressure: /pids?\b/,
};
/** `Container c was using 9Gi, request is 1Gi`: so far above its request it takes what others were promised. */
const using = /Container (\S+) was using ([\d.]+\w*), request is ([\d.]+\w*)/g;
const greedy = 2;

export default rule({
  title: 'A node is under memory, disk or PID pressure: whoever uses far more than it requests is the culprit',
  lookAlikes: [
    'the evicted pod is a victim: the culprit uses more than it asked for',
    'nobody exceeds a request: the node’s reservations or its disk are too small',
    'a container that broke its own ephemeral-storage limit',
  ],
  judge(facts, scope) {
    const nodes = [...new Set([...scope.subjectNodes, ...scope.nodes])];
    return nodes.flatMap((node) =>
      types
        .filter((type) => isTrue(node, type))
        .map((type) => {
          const events = facts.events.filter(
            (event) =>
              event.reason === 'Evicted' &&
              resourceOf[type].test(event.message) &&
              facts.find('Pod', event.regarding.name, event.regarding.namespace)?.spec?.nodeName === node.metadata.name,
          );
          const culprit = greediest(facts, node, type) ?? hungriest(facts, node, type);
          const owner = culprit ? ownershipOf(facts, culprit.pod) : 'platform';
          const evidence = cite(owner, facts);
          const words = culprit
            ? grep(
                facts,
                [culprit.pod],
                /\b(?:limit|buffer|chunk|cache|spool|storage|flush|rotate|no space|heap|memory)\b/i,
              )
            : [];
          const missing = facts
            .eventsAbout(node)
            .filter((event) => /EvictionThresholdMet|FreeDiskSpaceFailed|ImageGCFailed|SystemOOM/.test(event.reason));
          return {
            mechanism: 'node-pressure' as const,
            explains: [
              'eviction' as const,
              'probe' as const,
              'pending' as const,
              'unknown-symptom' as const,
              'node-silent' as const,
              'image-pull' as const,
              'rollout' as const,
            ],
            owner,
            boundary: 'node' as const,
            strength: culprit ? ('derived' as const) : ('circumstantial' as const),
            cause: text(
              `Node ${node.metadata.name} is under ${type.replace('Pressure', ' pressure').toLowerCase()}${culprit ? `: container ${culprit.container} of ${culprit.pod.metadata.namespace}/${culprit.pod.metadata.name} uses ${culprit.used} against a request of ${culprit.asked}` : '; no container far above its request was seen, so reservations or sizes of the node are in question'}.`,
            ),
            root: culprit ? refOf(facts.workloadOf(culprit.pod)) : refOf(node),
            affects: harmedBy(facts, [node]),
            onset: earliest(condition(node, type)?.lastTransitionTime),
            evidence: [
              evidence.condition(node, type),
              ...(culprit?.text ? [evidence.field(culprit.pod, 'status.message', culprit.text)] : []),
              ...(culprit?.series
                ? [evidence.series(culprit.series, `grew to ${culprit.used} against a request of ${culprit.asked}`)]
                : []),
              ...words.slice(-2).map((line) => evidence.log(line.log, line.text)),
              ...events.slice(-2).map((event) => evidence.event(event)),
              ...missing.slice(-2).map((event) => evidence.event(event)),
              evidence.field(node, 'status.allocatable'),
            ],
            chain: [...(culprit ? [link(culprit.pod, `uses ${culprit.used}`)] : []), link(node, type)],
            nextSteps: [
              text(
                culprit
                  ? `Set request and limit of ${culprit.container} to what it uses, or stop the growth; until then move it off ${node.metadata.name}.`
                  : `kubectl describe node ${node.metadata.name}; compare usage, requests and kube-reserved; larger disk or memory for the pool.`,
              ),
            ],
          };
        }),
    );
  },
});

const greediest = (facts: ClusterFacts, node: KubeObject, type: (typeof types)[number]) =>
  facts
    .podsOn(node.metadata.name)
    .flatMap((pod) => {
      const words: string = pod.status?.message ?? facts.eventsAbout(pod, 'Evicted').at(-1)?.message ?? '';
      if (!resourceOf[type].test(words)) return [];
      return [...words.matchAll(using)].map((match) => ({
        pod,
        container: match[1]!,
        used: match[2]!,
        asked: match[3]!,
        text: words,
        series: undefined as Series | undefined,
        over: quantity(match[2]) / Math.max(1, quantity(match[3])),
      }));
    })
    .filter((entry) => entry.over >= greedy && quantity(entry.used) > 100 * 2 ** 20)
    .sort((a, b) => quantity(b.used) - quantity(a.used))[0];

/** No eviction names it, yet its own measure does: far above its request, and a good part of the node. */
const considerable = 0.2;

/** What containers use of the resource that is short, and how the request and the node name it. */
const measures: Partial<Record<(typeof types)[number], { metric: string; resource: string }>> = {
  MemoryPressure: { metric: 'container_memory_working_set_bytes', resource: 'memory' },
  DiskPressure: { metric: 'container_fs_usage_bytes', resource: 'ephemeral-storage' },
};

const hungriest = (facts: ClusterFacts, node: KubeObject, type: (typeof types)[number]) => {
  const measure = measures[type];
  if (!measure) return undefined;
  return facts
    .series(measure.metric)
    .flatMap((series) => {
      const pod = facts.find('Pod', series.labels.pod, series.labels.namespace);
      const container = pod && series.labels.container ? containerOf(pod, series.labels.container) : undefined;
      if (!pod || !container || pod.spec?.nodeName !== node.metadata.name) return [];
      const asked = container.resources?.requests?.[measure.resource] ?? '0';
      const used = lastValue(series);
      const over = used / Math.max(1, quantity(asked));
      const large = used > considerable * quantity(node.status?.allocatable?.[measure.resource]);
      return over >= greedy && large
        ? [
            {
              pod,
              container: container.name as string,
              used: amount(measure.resource, used),
              asked,
              text: '',
              over,
              series: series as Series | undefined,
            },
          ]
        : [];
    })
    .sort((a, b) => lastValue(b.series) - lastValue(a.series))[0];
};
