import type { Clusters, OpenCluster } from './clusters.ts';
import type { Subject } from './domain/alert.ts';
import type { ClusterIdentity } from './domain/facts.ts';
import type { Incident, StoredAlert } from './domain/incident.ts';
import type { TriageSteps } from './incidents/ports.ts';
import { resolveSubject } from './intake/subject.ts';
import { reaches } from './triage/attribute.ts';
import { type CollectionTarget, unite } from './triage/collect/collection.ts';
import { collectLayer, unreadLayer } from './triage/collect/layer.ts';
import { judge } from './triage/judge.ts';
import type { RuleSet } from './triage/rule.ts';
import { decide } from './triage/triage.ts';

/** Observations a layer shows before the verdict: a first look, not the proof. */
const maxObservations = 3;

export interface EngineOptions {
  clusters: Clusters;
  ruleSet: RuleSet;
  layerTimeoutMs: number;
  /** ISO 8601; for what could not be read at all. */
  now(): string;
}

/** The triage engine over the configured clusters, as the incident use cases call it. */
export const engineSteps = (options: EngineOptions): Pick<TriageSteps, 'collectLayer' | 'observe' | 'judge'> => ({
  async collectLayer(incident, alerts, layer) {
    const cluster = await openOrGap(options.clusters, incident.cluster);
    if ('message' in cluster) {
      const identity: ClusterIdentity = { name: incident.cluster, provider: 'self' };
      return unreadLayer(layer, identity, options.now(), { reason: 'failed', ...cluster });
    }
    const target = targetOf(incident, alerts, cluster.identity);
    return collectLayer(layer, target, cluster.readers(), options.layerTimeoutMs);
  },

  observe({ incident, alerts }, facts) {
    const target = targetOf(incident, alerts, facts.cluster);
    const own = options.ruleSet.rules.filter((rule) => rule.layer === facts.layer);
    const { findings, scope } = judge(own, unite([facts], target, facts.readAt));
    return findings
      .filter((finding) => reaches(finding, scope))
      .flatMap((finding) => finding.evidence.slice(0, 1))
      .slice(0, maxObservations);
  },

  judge({ incident, alerts }, facts) {
    const newest = facts.toSorted((a, b) => a.readAt.localeCompare(b.readAt)).at(-1);
    const cluster = newest?.cluster ?? { name: incident.cluster, provider: 'self' };
    return decide(options.ruleSet, targetOf(incident, alerts, cluster), facts, newest?.readAt ?? options.now()).verdict;
  },
});

const openOrGap = async (clusters: Clusters, name: string): Promise<OpenCluster | { message: string; fix: string }> => {
  try {
    return (
      (await clusters.open(name)) ?? {
        message: `cluster ${name} is not configured, so nothing of it could be read`,
        fix: `add it to clusters in faultline.yaml, or its name to the aliases of the cluster it is`,
      }
    );
  } catch (error) {
    return { message: `cluster ${name} cannot be opened: ${(error as Error).message}`, fix: 'run faultline doctor' };
  }
};

/** The firing alerts' subjects, the incident's own first; where none fires any more, those of all its alerts. */
export const targetOf = (incident: Incident, alerts: StoredAlert[], cluster: ClusterIdentity): CollectionTarget => {
  const firing = alerts.filter((alert) => alert.status === 'firing');
  const relevant = firing.length > 0 ? firing : alerts;
  const subjects = [incident.subject, ...relevant.map((alert) => resolveSubject(alert.labels, incident.cluster))];
  const identity = ({ kind, namespace = '', name = '' }: Subject): string => `${kind}/${namespace}/${name}`;
  return {
    cluster,
    subjects: [...new Map(subjects.map((subject) => [identity(subject), subject])).values()],
    alerts: relevant,
  };
};
