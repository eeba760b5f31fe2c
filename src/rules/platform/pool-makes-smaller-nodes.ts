import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { claimsOfPool, lastWrite } from '../../facts/capacity/pools.ts';
import { requestOf } from '../../facts/capacity/requests.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { largestOf, typesOfPool } from '../../facts/nodes/instance-types.ts';
import { isFinished } from '../../facts/pods.ts';
import { duration, minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A share of the node that agents take before the first application pod: above it the size does not pay. */
const overheadShare = 0.25;

export default rule({
  title: 'A pool was changed to small machines, so the same pods need many more nodes',
  lookAlikes: ['replicas or memory per pod that grew: then the application is the cause'],
  judge(facts, scope) {
    return scope.pools.flatMap((pool) => {
      const write = lastWrite(pool);
      const claims = claimsOfPool(facts, pool);
      if (!write || claims.length < 4) return [];
      const young = claims.filter((claim) => toMs(claim.metadata.creationTimestamp) > toMs(write.time));
      const size = largestOf(pool);
      const agents = agentCpu(facts, pool);
      const crowded = tenants(facts, pool) / claims.length;
      const small = size !== undefined && (agents / size.cpu > overheadShare || size.cpu <= 2);
      if (young.length < 0.6 * claims.length || !small || crowded > 2.5) return [];
      const evidence = cite('platform', facts);
      const drift = facts.logs
        .filter((log) => /^karpenter/.test(log.pod))
        .flatMap((log) => log.text.split('\n').map((line) => ({ log, line })))
        .filter(({ line }) => /"reason":"drifted"/i.test(line))
        .slice(0, 1);
      const types = typesOfPool(pool).join(', ');
      return [
        {
          mechanism: 'autoscaler-growth' as const,
          explains: ['pool-limit' as const, 'pending' as const, 'node-churn' as const, 'unknown-symptom' as const],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: 'direct' as const,
          cause: text(
            `NodePool ${pool.metadata.name} was changed ${duration(minutesBetween(write.time, facts.now))} ago by ${write.manager} and makes ${types} only: agents take ${Math.round(agents * 1000)}m of ${size!.cpu} CPU on each, so a node holds ${crowded.toFixed(1)} application pods, and ${young.length} of ${claims.length} nodes are newer than the change.`,
          ),
          root: refOf(pool),
          affects: [refOf(pool), ...claims.map(refOf)],
          onset: write.time,
          evidence: [
            evidence.field(pool, 'spec.template.spec.requirements'),
            evidence.field(pool, 'metadata.managedFields', write),
            evidence.field(pool, 'status.resources'),
            ...drift.map(({ log, line }) => evidence.log(log, line)),
            ...young
              .slice(0, 2)
              .map((claim) =>
                evidence.field(
                  claim,
                  'metadata.labels[node.kubernetes.io/instance-type]',
                  claim.metadata.labels?.['node.kubernetes.io/instance-type'],
                  claim.metadata.creationTimestamp,
                ),
              ),
          ],
          chain: [
            link(pool, `${types} only since ${write.time}`),
            ...young.slice(0, 2).map((claim) => link(claim, 'made after the change')),
          ],
          nextSteps: [
            text(
              `Give NodePool ${pool.metadata.name} larger types again; agents cost the same on each node, whatever its size.`,
            ),
          ],
        },
      ];
    });
  },
});

const agentCpu = (facts: ClusterFacts, pool: KubeObject): number => {
  const node = nodesOf(facts, pool)[0];
  return (node ? facts.podsOn(node.metadata.name) : [])
    .filter((pod) => facts.ownerOf(pod)?.kind === 'DaemonSet')
    .reduce((sum, pod) => sum + requestOf(pod, 'cpu'), 0);
};

const tenants = (facts: ClusterFacts, pool: KubeObject): number =>
  nodesOf(facts, pool)
    .flatMap((node) => facts.podsOn(node.metadata.name))
    .filter((pod) => !isFinished(pod) && facts.ownerOf(pod)?.kind !== 'DaemonSet').length;

const nodesOf = (facts: ClusterFacts, pool: KubeObject): KubeObject[] =>
  facts.all('Node').filter((node) => node.metadata.labels?.['karpenter.sh/nodepool'] === pool.metadata.name);
