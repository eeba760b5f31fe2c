import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import { openLive } from '../../src/clusters.ts';
import type { RuleSet } from '../../src/triage/rule.ts';
import { triage } from '../../src/triage/triage.ts';
import { startKubernetesApi } from '../fakes/kubernetes/server.ts';

export interface LiveCost {
  /** From the first request to the verdict. */
  wallMs: number;
  requests: number;
  /** Requests that had to wait for one another. */
  roundTrips: number;
}

/**
 * A triage over HTTP against the API double, each answer delayed: of a cluster that was opened just now (cold), and once
 * more (warm).
 */
export const liveTriage = async (
  dir: string,
  ruleSet: RuleSet,
  latencyMs: number,
): Promise<{ cold: LiveCost; warm: LiveCost }> => {
  const cost = async (work: () => Promise<unknown>): Promise<LiveCost> => {
    const before = { requests: api.requests.length, roundTrips: api.roundTrips };
    const began = performance.now();
    await work();
    return {
      wallMs: performance.now() - began,
      requests: api.requests.length - before.requests,
      roundTrips: api.roundTrips - before.roundTrips,
    };
  };
  const api = await startKubernetesApi(dir);
  api.faults.push({ resource: '*', latencyMs });
  const alerts = await readAlerts(`${dir}/alert.json`);
  try {
    let cluster = await openLive({ kubeconfig: api.kubeconfig }, undefined, 10_000);
    const judge = () => triage(ruleSet, alertTarget(alerts, cluster.identity), cluster.readers());
    // What the first triage of a process compiles is no part of what a triage costs.
    await judge();
    const cold = await cost(async () => {
      cluster = await openLive({ kubeconfig: api.kubeconfig }, undefined, 10_000);
      await judge();
    });
    return { cold, warm: await cost(judge) };
  } finally {
    await api.close();
  }
};
