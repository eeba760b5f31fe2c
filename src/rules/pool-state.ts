import type { KubeObject } from '../domain/kubernetes.ts';
import { candidatePools, waitingFor } from '../facts/capacity/pools.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { isNotTrue } from '../facts/conditions.ts';

/** Pods that wait for this pool and have no ready pool besides. */
export const stoppedBy = (facts: ClusterFacts, pool: KubeObject): KubeObject[] =>
  waitingFor(facts, pool).filter((pod) =>
    candidatePools(facts, pod).every((other) => other === pool || isNotTrue(other, 'Ready')),
  );
