import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, trailOf } from '../../facts/aws.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { containerStatuses, isReady } from '../../facts/pods.ts';
import { latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A restart longer ago than this has been lived with. */
const recentMinutes = 3 * 60;
/** Containers end some minutes before the kubelet is back and says that its node has another boot id. */
const aroundMinutes = 15;
/** Operators that restart nodes on purpose, by what they write on them. */
const scheduled =
  /^(weave\.works\/kured|kured\.dev\/|upgrade\.cattle\.io\/|flatcar-linux-update\.v1|machineconfiguration\.openshift\.io\/state$|nodemaintenance)/;

export default rule({
  title: 'A node was restarted, and all that ran on it with it: containers that ended at once, whoever owns them',
  lookAlikes: [
    'only one workload of the node restarted: its own crash',
    'a bad host: its status check, a scheduled event or a system event says so',
    'the kubelet alone was restarted: containers run on',
  ],
  judge(facts, scope) {
    const nodes = [...new Set([...scope.nodes, ...scope.subjectNodes])];
    return nodes.flatMap((node): FindingDraft[] => {
      const reboot = facts
        .eventsAbout(node, 'Rebooted')
        .filter((event) => minutesBetween(event.lastAt, facts.now) < recentMinutes)
        .at(-1);
      if (!reboot) return [];
      const ended = endedWith(facts, node, reboot);
      const several = new Set(ended.map((pod) => nameOf(facts.workloadOf(pod)))).size;
      if (ended.length === 0 || (several < 2 && facts.podsOn(node.metadata.name).length > 1)) return [];
      const back = isTrue(node, 'Ready') && ended.every(isReady);
      const cause = whoRestarted(facts, node, reboot);
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'node-churn',
          explains: [
            'crash',
            'probe',
            'sandbox-network',
            'node-silent',
            'node-runtime',
            'rollout',
            'job',
            'eviction',
            'unknown-symptom',
            'application-error',
          ],
          state: back ? 'over' : 'fault',
          owner: cause ? 'platform' : 'undetermined',
          boundary: 'node',
          strength: cause ? 'direct' : 'derived',
          cause: text(
            `Node ${node.metadata.name} was restarted around ${reboot.lastAt} and ${ended.length} pods of ${several} workloads ended with it${cause ? `: ${cause.says}` : '; who or what restarted it is not in what was read'}${back ? '; node and pods are ready again' : ''}.`,
          ),
          root: refOf(node),
          affects: [node, ...ended, ...ended.map((pod) => facts.workloadOf(pod))].map(refOf),
          onset: reboot.firstAt,
          evidence: [
            evidence.event(reboot),
            ...(cause ? [cause.evidence] : []),
            ...ended.slice(0, 3).map((pod) => evidence.field(pod, 'status.containerStatuses', endOf(pod))),
            evidence.condition(node, 'Ready'),
          ],
          chain: [
            link(node, cause?.says ?? 'restarted'),
            ...ended.slice(0, 3).map((pod) => link(pod, 'ended with its node')),
          ],
          nextSteps: [
            text(
              cause
                ? 'Drain before each restart, one node at a time, and keep more than one replica per workload.'
                : `On ${node.metadata.name}: last -x reboot, journalctl -b -1 -n 200 (kernel panic, OOM, power key), and the vendor’s record of the machine at that time.`,
            ),
          ],
          missing: cause
            ? []
            : [
                {
                  layer: 'cloud',
                  missing: `who restarted the machine of ${node.metadata.name}, or whether it restarted itself`,
                  fix: 'the trail of the account (RebootInstances, the activity log, ActionTrail), the machine’s system events, and the end of its former boot’s journal',
                },
              ],
        },
      ];
    });
  },
});

const endOf = (pod: KubeObject): string => {
  const status = containerStatuses(pod).find((entry) => entry.lastState?.terminated ?? entry.state?.terminated);
  const end = status?.lastState?.terminated ?? status?.state?.terminated;
  return `${status?.name}: ${end?.reason}, exit ${end?.exitCode} at ${end?.finishedAt}`;
};

/** Pods of the node whose containers ended, or whose sandbox was made again, in the minutes of the restart. */
const endedWith = (facts: ClusterFacts, node: KubeObject, reboot: KubeEvent): KubeObject[] =>
  facts.podsOn(node.metadata.name).filter((pod) =>
    containerStatuses(pod).some(({ state, lastState }) => {
      const finished = latest(lastState?.terminated?.finishedAt, state?.terminated?.finishedAt);
      return finished !== undefined && Math.abs(minutesBetween(finished, reboot.lastAt)) <= aroundMinutes;
    }),
  );

const whoRestarted = (facts: ClusterFacts, node: KubeObject, reboot: KubeEvent) => {
  const evidence = cite('platform', facts);
  const id = instanceIdOf(node);
  const call = trailOf(facts).find(
    (event) =>
      event.name === 'RebootInstances' &&
      !event.error &&
      id !== undefined &&
      event.text.includes(id) &&
      Math.abs(minutesBetween(event.at, reboot.lastAt)) <= 2 * aroundMinutes,
  );
  if (call && !call.service)
    return {
      says: `${call.actor} called ${call.name}`,
      evidence: evidence.aws('cloudtrail.lookupEvents', `${call.name} by ${call.actor}`, id, call.userAgent, call.at),
    };
  const mark = Object.keys({ ...node.metadata.labels, ...node.metadata.annotations }).find((key) =>
    scheduled.test(key),
  );
  return mark
    ? {
        says: `an operator of the platform restarts nodes on purpose (${mark})`,
        evidence: evidence.field(
          node,
          `metadata.annotations[${mark}]`,
          node.metadata.annotations?.[mark] ?? node.metadata.labels?.[mark],
        ),
      }
    : undefined;
};
