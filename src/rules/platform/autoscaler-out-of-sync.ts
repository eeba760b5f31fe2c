import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Karpenter waits for its own view of the cluster before each decision; seconds after its start. */
const patienceMinutes = 5;
const waits = /cluster is waiting on sync for extended duration|waiting on cluster sync/;

export default rule({
  title: 'Karpenter runs and decides nothing: its view of the cluster does not get in step with nodes and claims',
  lookAlikes: [
    'Karpenter that has just started',
    'Karpenter that is down, or may not read its own objects: other rules',
    'a managed Karpenter, which shows neither log nor metric',
  ],
  judge(facts) {
    const waiting = waitingPods(facts).filter((pod) => facts.ownerOf(pod)?.kind !== 'DaemonSet');
    if (waiting.length === 0) return [];
    const [synced] = facts.series('karpenter_cluster_state_synced');
    const last = synced?.points.at(-1);
    const lost = synced?.points.findLast(([, value]) => value > 0)?.[0] ?? synced?.points[0]?.[0];
    const blind =
      synced && last?.[1] === 0 && lost !== undefined && last[0] - lost >= patienceMinutes * 60 ? synced : undefined;
    const lines = linesLike(facts, waits, (log) => /^karpenter/.test(log.pod)).filter(
      ({ line }) => !(minutesBetween(timeOf(line, facts.now), facts.now) > 30),
    );
    if (!blind && lines.length === 0) return [];
    const since = blind
      ? new Date(lost! * 1000).toISOString().replace('.000Z', 'Z')
      : timeOf(lines[0]!.line, facts.now);
    const [controller] = facts.all('Deployment').filter((entry) => /^karpenter/.test(entry.metadata.name));
    // Claims without a node, or nodes of the pools without a claim, are what it waits for.
    const orphans = facts
      .all('NodeClaim')
      .filter((claim) => claim.status?.nodeName && !facts.find('Node', claim.status.nodeName));
    const evidence = cite('platform', facts);
    return [
      {
        mechanism: 'controller-down',
        explains: ['pending', 'scheduling', 'rollout', 'pool-limit', 'unknown-symptom'],
        owner: 'platform',
        boundary: 'provisioning',
        strength: blind ? 'direct' : 'derived',
        cause: text(
          `Karpenter decides nothing${since ? ` for ${duration(minutesBetween(since, facts.now))}` : ''}: its view of the cluster is not in step${orphans[0] ? ` (claim ${orphans[0].metadata.name} names node ${orphans[0].status.nodeName}, which does not exist)` : ''}; ${waiting.length} pods wait.`,
        ),
        root: controller ? refOf(controller) : { kind: 'Deployment', name: 'karpenter' },
        affects: waiting.map(refOf),
        onset: since,
        evidence: [
          ...(blind ? [evidence.series(blind, `0 since ${since}`)] : []),
          ...lines.slice(-2).map(({ log, line }) => evidence.log(log, line)),
          ...orphans.slice(0, 2).map((claim) => evidence.field(claim, 'status.nodeName')),
          evidence.condition(waiting[0]!, 'PodScheduled'),
        ],
        chain: [
          { object: 'Karpenter', claim: 'its cluster state is not synced' },
          ...waiting.slice(0, 3).map((pod) => link(pod, 'nobody makes a node for it')),
        ],
        nextSteps: [
          text(
            'kubectl get nodeclaims,nodes -o wide: delete claims whose machine is gone (and nodes without one), then restart Karpenter: kubectl -n kube-system rollout restart deployment karpenter',
          ),
        ],
      },
    ];
  },
});
