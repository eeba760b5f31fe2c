import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { statusMapOf, statusOf } from '../../facts/capacity/autoscaler-status.ts';
import { isoTime } from '../../facts/capacity/autoscaler-words.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** The autoscaler repeats the event at each of its loops. */
const recentMinutes = 30;

export default rule({
  title:
    'Cluster Autoscaler has stopped acting, because too many nodes are unready: nobody makes nodes until they are back',
  lookAlikes: [
    'one group in back-off: the others go on',
    'an autoscaler that is down: its status grows old',
    'what made the nodes unready is the cause, and has rules of its own',
  ],
  judge(facts) {
    const map = statusMapOf(facts);
    const health = statusOf(map)?.clusterWide?.health;
    const said = facts.events.findLast(
      (event) => event.reason === 'ClusterUnhealthy' && minutesBetween(event.lastAt, facts.now) < recentMinutes,
    );
    if (health?.status !== 'Unhealthy' && !said) return [];
    const waiting = waitingPods(facts).filter((pod) => facts.ownerOf(pod)?.kind !== 'DaemonSet');
    if (waiting.length === 0) return [];
    const unready = facts.all('Node').filter(isNotReady);
    const { total, unready: counted } = health?.nodeCounts?.registered ?? {};
    const evidence = cite('platform', facts);
    const share = counted?.total !== undefined ? `${counted.total} of ${total} nodes` : `${unready.length} nodes`;
    return [
      {
        mechanism: 'controller-down',
        explains: ['pending', 'scheduling', 'rollout', 'unknown-symptom', 'scaling-limit'],
        owner: 'undetermined',
        boundary: 'provisioning',
        strength: 'derived',
        cause: text(
          `Cluster Autoscaler holds the cluster to be unhealthy (${share} unready) and makes no node for ${waiting.length} waiting pods; what made the nodes unready decides.`,
        ),
        root: map ? refOf(map) : said!.regarding,
        affects: [...waiting, ...unready].map(refOf),
        onset: isoTime(health?.lastTransitionTime) || said?.firstAt,
        evidence: [
          ...(said ? [evidence.event(said)] : []),
          ...(health && map ? [evidence.field(map, 'data.status.clusterWide.health', health.status, share)] : []),
          ...unready.slice(0, 3).map((node) => evidence.condition(node, 'Ready')),
          evidence.condition(waiting[0]!, 'PodScheduled'),
        ],
        chain: [
          ...unready.slice(0, 2).map((node) => link(node, 'not ready')),
          { object: 'Cluster Autoscaler', claim: 'has stopped acting' },
          ...waiting.slice(0, 2).map((pod) => link(pod, 'nobody makes a node for it')),
        ],
        nextSteps: [
          text(
            'kubectl get nodes: bring the unready ones back or delete those whose machine is gone; the autoscaler then goes on by itself.',
          ),
        ],
        missing: [
          {
            layer: 'platform',
            missing: 'why so many nodes are unready at once',
            fix: 'kubectl describe node of two of them, and the machines’ own state in the cloud',
          },
        ],
      },
    ];
  },
});
