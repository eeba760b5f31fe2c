import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceOf, instanceStatusOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { readiness, removalMark } from '../../facts/nodes/nodes.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const shutting = /node is shutting down/;
const shutdownTaint = 'node.cloudprovider.kubernetes.io/shutdown';
/** Parts that a kubelet lacks, in its own words: what it measures by, devices, the storage driver’s registration. */
const lacking =
  /missing node capacity for resources: ([\w./, -]+)|CSINode is not yet initialized|failed to initialize CSINode/;
/** Within this of its start a kubelet may still lack its parts. */
const startMinutes = 5;

export default rule({
  title:
    'A node’s kubelet says why it is not ready: its machine is being shut down or is stopped, or it lacks a part of itself',
  lookAlikes: [
    'a node that an autoscaler is removing: on purpose',
    'a runtime or network that is down: rules of their own',
    'a node that has just started',
  ],
  judge(facts) {
    return facts.all('Node').flatMap((node): FindingDraft[] => {
      const ready = readiness(node);
      const message = ready?.message ?? '';
      const stopped = (node.spec?.taints ?? []).some((taint: any) => taint.key === shutdownTaint);
      const down = stopped || (ready?.status === 'False' && shutting.test(message));
      const lacks = ready?.status === 'False' && lacking.test(message);
      const minutes = minutesBetween(ready?.lastTransitionTime, facts.now);
      if ((!down && !lacks) || removalMark(node) || (lacks && minutes < startMinutes)) return [];
      const state = instanceStatusOf(facts, node)?.InstanceState?.Name ?? instanceOf(facts, node)?.State?.Name;
      const shutdown = facts.eventsAbout(node, 'Shutdown').at(-1);
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: down ? 'node-removed' : 'node-runtime',
          explains: [
            'eviction',
            'pending',
            'scheduling',
            'probe',
            'node-silent',
            'rollout',
            'volume',
            'unknown-symptom',
          ],
          owner: down ? 'undetermined' : 'platform',
          boundary: 'node',
          strength: down ? 'derived' : 'direct',
          cause: text(
            down
              ? `The machine of node ${node.metadata.name} ${stopped ? 'is stopped' : 'is being shut down'}${state ? ` (the cloud says ${state})` : ''}, and no autoscaler or drain asked for it; who did is not in what was read.`
              : `Node ${node.metadata.name} is not ready since ${duration(minutes)} because its kubelet lacks a part: “${message.slice(0, 200)}”.`,
          ),
          root: refOf(node),
          affects: harmedBy(facts, [node]),
          onset: shutdown?.firstAt ?? ready?.lastTransitionTime,
          evidence: [
            evidence.condition(node, 'Ready'),
            ...(stopped ? [evidence.field(node, 'spec.taints')] : []),
            ...(shutdown ? [evidence.event(shutdown)] : []),
          ],
          chain: [link(node, down ? 'its machine goes down' : message.slice(0, 80))],
          nextSteps: [
            text(
              down
                ? 'Look in the cloud’s trail who stopped the machine, or at the host for a reboot (last -x); delete the node if the machine does not come back.'
                : `On ${node.metadata.name}: journalctl -u kubelet; restart the kubelet, and replace the node if it stays so.`,
            ),
          ],
          missing: down
            ? [
                {
                  layer: 'cloud',
                  missing: `who stopped the machine of ${node.metadata.name}`,
                  fix: 'the trail of the account (StopInstances, TerminateInstances; the activity log; ActionTrail) around that time',
                },
              ]
            : [],
        },
      ];
    });
  },
});
