import type { KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { oomKillsOf, systemOomOf } from '../../facts/nodes/oom.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containersOf, isFinished } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A pod that uses this many times its memory request takes what others were promised. */
const greedy = 1.5;
const mebi = 2 ** 20;

export default rule({
  title: 'A node ran out of memory: the kernel killed processes of the node, not of one container limit',
  lookAlikes: [
    "a container killed by its own limit on a node with memory: the workload's owner",
    'the victim is not the culprit: the pod far above its request is, whoever died',
  ],
  judge(facts, scope) {
    const names = new Set([...scope.nodes, ...scope.subjectNodes].map((node) => node.metadata.name));
    return [...names].flatMap((name): FindingDraft[] => {
      const node = facts.find('Node', name);
      const events = systemOomOf(facts, name);
      const unlimited = facts
        .podsOn(name)
        .flatMap((pod) => oomKillsOf(facts, pod))
        .filter((kill) => !kill.limit);
      if (!node || (events.length === 0 && !(unlimited.length > 0 && isTrue(node, 'MemoryPressure')))) return [];
      const culprit = greediest(facts, name);
      const reserved = quantity(node.status?.capacity?.memory) - quantity(node.status?.allocatable?.memory);
      const unreserved = reserved < 200 * mebi;
      const owner = culprit ? ownershipOf(facts, culprit.pod) : unreserved ? 'platform' : 'undetermined';
      const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
      const pods = facts.podsOn(name).filter((pod) => scope.has(refOf(pod)));
      return [
        {
          mechanism: 'node-pressure',
          explains: ['oom', 'crash', 'eviction', 'probe', 'node-silent', 'application-error', 'unknown-symptom'],
          owner,
          boundary: culprit && owner === 'app' ? 'application' : 'node',
          strength: culprit ? 'derived' : 'circumstantial',
          cause: text(
            culprit
              ? `Node ${name} ran out of memory because ${nameOf(culprit.pod)} uses ${Math.round(culprit.used / mebi)} MiB against a request of ${Math.round(culprit.requested / mebi)} MiB.`
              : unreserved
                ? `Node ${name} ran out of memory: almost nothing is reserved for the system (${Math.round(reserved / mebi)} MiB between capacity and allocatable).`
                : `Node ${name} ran out of memory; which pod took it is not in what was read.`,
          ),
          root: culprit ? refOf(culprit.pod) : refOf(node),
          affects: [refOf(node), ...pods.map(refOf)],
          onset: earliest(...events.map((event) => event.firstAt)),
          evidence: [
            ...events.slice(-2).map((event) => evidence.event(event)),
            ...(culprit
              ? [
                  evidence.series(
                    culprit.series,
                    `${Math.round(culprit.used / mebi)} MiB used, ${Math.round(culprit.requested / mebi)} MiB requested`,
                  ),
                ]
              : []),
            evidence.field(node, 'status.allocatable.memory'),
          ],
          chain: [
            ...(culprit ? [link(culprit.pod, 'takes memory beyond its request')] : []),
            link(node, 'out of memory'),
            ...pods.slice(0, 2).map((pod) => link(pod, 'on that node')),
          ],
          contributing:
            owner === 'app'
              ? [
                  {
                    owner: 'platform',
                    action: text('Require memory limits, and reserve memory for the system on nodes.'),
                  },
                ]
              : [],
          nextSteps: [
            text(`Find what grew: kubectl top pod -A --sort-by=memory | head; kubectl describe node ${name}`),
          ],
          missing:
            owner === 'undetermined'
              ? [
                  {
                    layer: 'app',
                    missing: `memory use per pod on node ${name}`,
                    fix: 'read container_memory_working_set_bytes from Prometheus, or kubectl top pod',
                  },
                ]
              : [],
        },
      ];
    });
  },
});

interface Culprit {
  pod: KubeObject;
  used: number;
  requested: number;
  series: ReturnType<ClusterFacts['series']>[number];
}

/** The pod on the node that exceeds its memory request by most bytes, and by a factor. */
const greediest = (facts: ClusterFacts, node: string): Culprit | undefined =>
  facts
    .podsOn(node)
    .filter((pod) => !isFinished(pod))
    .flatMap((pod): Culprit[] => {
      const { namespace = '', name } = pod.metadata;
      const series = facts
        .series('container_memory_working_set_bytes', { namespace, pod: name })
        .filter((entry) => entry.labels.container !== 'POD');
      if (!series[0]) return [];
      const used = series.reduce((total, entry) => total + (lastValue(entry) || 0), 0);
      const requested = containersOf(pod).reduce(
        (total, container) => total + (quantity(container.resources?.requests?.memory) || 0),
        0,
      );
      return used > greedy * Math.max(requested, 64 * mebi) ? [{ pod, used, requested, series: series[0] }] : [];
    })
    .sort((a, b) => b.used - b.requested - (a.used - a.requested))[0];
