import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { statusOf } from '../../facts/capacity/autoscaler-status.ts';
import { amount } from '../../facts/capacity/requests.ts';
import { type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import { duration } from '../../facts/time.ts';
import { type BareCrowd, bareCrowds } from '../../facts/workloads/bare-pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { nameOf as nameOfWorkload, refusalEvidence, waitingChain } from '../waiting.ts';

/** The maker says that it leaves pods behind, or how few it still works with. */
const leaves =
  /clean-?up[= ]\W?(?:skipp|disabled|off|failed)|keep\w*[= ]true|not (?:deleting|cleaning)|skip\w* (?:delet|clean)|abandon|orphan|leav\w+ .*(?:running|behind)|failed to delete/i;
const believes = /\b(?:active|tracked|running|known|inflight|open)(?:[_ -]?\w+)?[=:] ?(\d+)/i;
/** Work that ends: what is made for a run, a build or a session is over some day. */
const ofRuns = /run|job|build|bench|test|agent|session|preview|task|worker|sandbox|notebook/i;
/** Leftovers that hold less than this share of the nodes are not what fills them. */
const leastShare = 0.2;
const dayMinutes = 24 * 60;

export default rule({
  title: 'Nodes are full of pods that somebody made by hand or by tool and never deleted, in whatever namespace',
  lookAlikes: [
    'a group at its maximum with pods that are all wanted: the maximum is too low',
    'finished pods: they hold no room',
    'raising the maximum buys days: the leftovers go on growing',
  ],
  judge(facts, scope) {
    const crowds = bareCrowds(facts);
    if (crowds.length === 0) return [];
    return waitingGroups(facts, scope)
      .filter((group) => group.clauses.some((clause) => /^Insufficient (cpu|memory)|Too many pods/.test(clause.reason)))
      .flatMap((group) => crowds.flatMap((crowd) => crowdFinding(facts, group, crowd)));
  },
});

const crowdFinding = (facts: ClusterFacts, group: WaitingGroup, crowd: BareCrowd): FindingDraft[] => {
  const own = crowd.pods.some((pod) => pod.metadata.namespace === group.sample.metadata.namespace);
  const names = new Set(crowd.pods.map((pod) => pod.spec?.nodeName));
  const nodes = facts.all('Node').filter((node) => names.has(node.metadata.name));
  const share = Math.max(crowd.cpu / room(facts, 'cpu') || 0, crowd.memory / room(facts, 'memory') || 0);
  const makers = crowd.makers;
  const logged = grep(
    facts,
    makers.flatMap((maker) => facts.podsOf(maker)),
    leaves,
  );
  const counts = grep(
    facts,
    makers.flatMap((maker) => facts.podsOf(maker)),
    believes,
  );
  const believed = counts.length > 0 ? Number(believes.exec(counts.at(-1)!.text)![1]) : undefined;
  const said = logged.length > 0 || (believed !== undefined && believed * 2 < crowd.pods.length);
  const looksOver = crowd.oldestMinutes > dayMinutes && crowd.pods.every(speaksOfRuns);
  if (!(share >= leastShare) || (!said && !looksOver)) return [];
  const maker =
    makers.length === 1 ? makers[0] : makers.find((entry) => grep(facts, facts.podsOf(entry), leaves).length > 0);
  const root = maker ?? crowd.pods[0]!;
  const owner = ownershipOf(facts, root);
  const evidence = cite(owner, facts);
  const status = facts.find('ConfigMap', 'cluster-autoscaler-status', 'kube-system');
  const full = ((statusOf(status)?.nodeGroups ?? []) as any[]).find(
    (entry) => entry.health?.cloudProviderTarget >= entry.health?.maxSize,
  );
  return [
    {
      mechanism: 'leak',
      explains: ['pool-limit', 'pending', 'scheduling', 'autoscaler-growth', 'unknown-symptom'],
      owner,
      boundary: 'application',
      strength: 'derived',
      cause: text(
        `${crowd.pods.length} pods in ${crowd.namespace} that nothing owns, up to ${duration(crowd.oldestMinutes)} old, hold ${amount('cpu', crowd.cpu)} CPU and ${amount('memory', crowd.memory)} memory on ${nodes.length} nodes (${Math.round(share * 100)}% of the cluster)${maker ? `: ${nameOf(maker)} leaves them behind${believed !== undefined ? ` and works with ${believed}` : ''}` : ''}; ${nameOfWorkload(group.workload)} finds no room.`,
      ),
      root: refOf(root),
      affects: [...group.pods, ...crowd.pods, ...(own ? [group.workload] : [])].map(refOf),
      evidence: [
        ...refusalEvidence(evidence, group),
        ...logged.slice(-2).map((line) => evidence.log(line.log, line.text)),
        ...counts.slice(-1).map((line) => evidence.log(line.log, line.text)),
        ...crowd.pods.slice(0, 2).map((pod) => evidence.field(pod, 'metadata.creationTimestamp')),
        ...(full ? [evidence.field(status!, `data.status.nodeGroups[${full.name}].health`, full.health)] : []),
      ],
      chain: [
        link(root, 'leaves pods behind'),
        link(crowd.pods[0]!, `one of ${crowd.pods.length} that nothing owns`),
        ...waitingChain(group),
      ],
      contributing: [
        {
          owner: 'platform',
          action: text(
            'Delete pods without an owner that outlive their purpose by policy, and give the namespace a quota.',
          ),
        },
      ],
      nextSteps: [
        text(
          `Delete the leftovers with their owner’s consent: kubectl get pods -n ${crowd.namespace} --sort-by=.metadata.creationTimestamp`,
        ),
        text('Have what makes them delete them at the end (ownerReferences, activeDeadlineSeconds, ttl).'),
      ],
    },
  ];
};

const room = (facts: ClusterFacts, resource: string): number =>
  facts.all('Node').reduce((sum, node) => sum + (quantity(node.status?.allocatable?.[resource]) || 0), 0);

const speaksOfRuns = (pod: KubeObject): boolean =>
  pod.spec?.restartPolicy === 'Never' ||
  ofRuns.test(
    `${pod.metadata.name} ${Object.entries(pod.metadata.labels ?? {})
      .flat()
      .join(' ')}`,
  );
