import type { Series } from '../../domain/facts.ts';
import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containersOf } from '../../facts/pods.ts';
import { firstValue, lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const outOfIds = /ForkFailedOutOfPIDs?|out of process ids|insufficient PID/i;
/** `Process 81423 (serve.sh) has 29871 zombie children`, as the node monitoring agent words it. */
const zombies = /Process \d+ \(([^)]+)\) has (\d+) zombie/i;
const perContainer = /^container_(processes|threads|pids_current|pids)$/;
/** The culprit holds this many times as many processes as the next one. */
const far = 5;

interface Culprit {
  pod: KubeObject;
  event?: KubeEvent;
  series?: Series;
  words: string;
}

export default rule({
  title: 'A node runs out of process ids: the container that holds or never reaps them is the culprit',
  lookAlikes: ['pods that cannot fork on that node: victims', 'memory or runtime trouble of the node itself'],
  judge(facts, scope) {
    return [...new Set([...scope.subjectNodes, ...scope.nodes])].flatMap((node) => {
      const types = ['PIDPressure', 'KernelReady'].filter(
        (type) =>
          (type === 'PIDPressure' && isTrue(node, type)) ||
          (condition(node, type)?.status === 'False' && outOfIds.test(condition(node, type)?.reason ?? '')),
      );
      const events = facts.eventsAbout(node).filter((event) => outOfIds.test(`${event.reason} ${event.message}`));
      const culprit = types.length + events.length > 0 ? culpritOn(facts, node) : undefined;
      if (!culprit) return [];
      const workload = facts.workloadOf(culprit.pod);
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const total = facts
        .seriesLike(/^node_processes_pids$/)
        .find((series) => series.labels.instance === node.metadata.name);
      return [
        {
          mechanism: 'node-pressure' as const,
          explains: [
            'node-runtime' as const,
            'node-silent' as const,
            'node-pressure' as const,
            'crash' as const,
            'sandbox-network' as const,
            'probe' as const,
            'eviction' as const,
            'unknown-symptom' as const,
            'application-error' as const,
          ],
          owner,
          boundary: 'node' as const,
          strength: culprit.event && culprit.series ? ('direct' as const) : ('derived' as const),
          cause: text(
            `${nameOf(workload)} uses up the process ids of node ${node.metadata.name}: ${culprit.words}; other pods there cannot fork.`,
          ),
          root: refOf(workload),
          affects: [...harmedBy(facts, [node]), refOf(workload)],
          onset: earliest(culprit.event?.firstAt, ...types.map((type) => condition(node, type)?.lastTransitionTime)),
          evidence: [
            ...(culprit.event ? [evidence.event(culprit.event)] : []),
            ...(culprit.series
              ? [evidence.series(culprit.series, `from ${firstValue(culprit.series)} to ${lastValue(culprit.series)}`)]
              : []),
            ...types.map((type) => evidence.condition(node, type)),
            ...events.slice(-1).map((event) => evidence.event(event)),
            ...(total ? [evidence.series(total, `now ${lastValue(total)}`)] : []),
          ],
          chain: [
            link(culprit.pod, culprit.words),
            link(node, 'has no process ids left'),
            ...facts
              .podsOn(node.metadata.name)
              .filter((pod) => pod !== culprit.pod)
              .slice(0, 2)
              .map((pod) => link(pod, 'runs there')),
          ],
          contributing:
            owner === 'app'
              ? [
                  {
                    owner: 'platform' as const,
                    action: text('Limit processes per pod: podPidsLimit in the kubelet configuration.'),
                  },
                ]
              : [],
          nextSteps: [
            text(
              `Restart the pod to free them now: kubectl delete pod ${culprit.pod.metadata.name} -n ${culprit.pod.metadata.namespace}; run it under an init that reaps its children (tini, shareProcessNamespace), or bound its threads.`,
            ),
          ],
        },
      ];
    });
  },
});

/** Named by the agent through its command, by its own count of processes, or by both. */
const culpritOn = (facts: ClusterFacts, node: KubeObject): Culprit | undefined => {
  const pods = facts.podsOn(node.metadata.name);
  const event = facts.eventsAbout(node).find((entry) => zombies.test(entry.message));
  const [, command = '', count = ''] = zombies.exec(event?.message ?? '') ?? [];
  const counted = facts
    .seriesLike(perContainer)
    .filter((series) => pods.some((pod) => isOf(series, pod)))
    .sort((a, b) => lastValue(b) - lastValue(a));
  const [top, next] = counted;
  const series = top && (!next || lastValue(top) >= far * lastValue(next)) && lastValue(top) > 1000 ? top : undefined;
  const byCount = series && pods.find((pod) => isOf(series, pod));
  const runs = command
    ? pods.filter((pod) =>
        containersOf(pod).some((container) =>
          [...(container.command ?? []), ...(container.args ?? [])].some(
            (part: string) => part.split('/').at(-1) === command,
          ),
        ),
      )
    : [];
  const byCommand = runs.length === 1 ? runs[0] : undefined;
  const pod = byCount ?? byCommand;
  if (!pod || (byCount && byCommand && byCount !== byCommand)) return undefined;
  return {
    pod,
    event: command && (byCommand === pod || runs.length === 0) ? event : undefined,
    series,
    words: byCommand === pod ? `${command} has ${count} zombie children` : `it holds ${lastValue(series)} processes`,
  };
};

const isOf = (series: Series, pod: KubeObject): boolean =>
  series.labels.pod === pod.metadata.name && series.labels.namespace === pod.metadata.namespace;
