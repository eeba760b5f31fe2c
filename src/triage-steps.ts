import type { Clusters, OpenCluster } from './clusters.ts';
import type { Config } from './config/schema.ts';
import type { Subject } from './domain/alert.ts';
import type { ClusterIdentity, Facts, LayerFacts } from './domain/facts.ts';
import type { Incident, StoredAlert } from './domain/incident.ts';
import type { Layer } from './domain/layer.ts';
import { layers } from './domain/layer.ts';
import type { Reasoning } from './domain/reasoning.ts';
import type { Verdict } from './domain/verdict.ts';
import type { IncidentRecord, Routing } from './domain/view.ts';
import { escalate } from './escalation/escalate.ts';
import type { TriageSteps } from './incidents/ports.ts';
import { resolveSubject } from './intake/subject.ts';
import { redact } from './redaction/redact.ts';
import type { OwnerDirectory } from './routing/directory.ts';
import { handOffTo, route } from './routing/route.ts';
import type { Messages } from './slack/messages.ts';
import { renderWithdrawn } from './slack/render/replies.ts';
import { renderThread } from './slack/render/thread.ts';
import { reaches } from './triage/causation.ts';
import { type CollectionTarget, unite } from './triage/collect/collection.ts';
import { collectLayer, unreadLayer } from './triage/collect/layer.ts';
import { judge } from './triage/judge.ts';
import { reasoningOf } from './triage/reasoning.ts';
import type { RuleSet } from './triage/rule.ts';
import { decide } from './triage/triage.ts';

/** Observations a layer shows before the verdict: a first look, not the proof. */
const maxObservations = 3;

/**
 * How the stored verdict of an incident came about: its facts are judged anew, by the rules of now. Null while there is
 * no verdict.
 */
export const explainWith =
  (ruleSet: RuleSet) =>
  ({ incident, alerts, verdict }: IncidentRecord, facts: LayerFacts[]): Reasoning | null => {
    const newest = newestOf(facts);
    if (!verdict || !newest) return null;
    const judgement = judge(ruleSet.rules, unite(facts, targetOf(incident, alerts, newest.cluster), newest.readAt));
    const last = layers.flatMap((layer) => newestOf(facts.filter((batch) => batch.layer === layer)) ?? []);
    return reasoningOf(ruleSet, judgement, verdict, last);
  };

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
      return unreadLayer(layer, unknownCluster(incident.cluster), options.now(), { reason: 'failed', ...cluster });
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
    const newest = newestOf(facts);
    const cluster = newest?.cluster ?? unknownCluster(incident.cluster);
    return decide(options.ruleSet, targetOf(incident, alerts, cluster), facts, newest?.readAt ?? options.now()).verdict;
  },
});

const newestOf = (facts: LayerFacts[]): LayerFacts | undefined =>
  facts.toSorted((a, b) => a.readAt.localeCompare(b.readAt)).at(-1);

/** A cluster nothing is known of has no vendor that could be named. */
const unknownCluster = (name: string): ClusterIdentity => ({ name, provider: 'self' });

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

export interface StepsOptions extends Omit<EngineOptions, 'layerTimeoutMs'> {
  config: Config;
  directory: OwnerDirectory;
  messages: Messages;
  /** Address of an incident's page; null where no page is served to the thread's readers. */
  pageUrl(incidentId: string): string | null;
}

/** Everything the incident use cases ask of the other modules. */
export const triageSteps = (options: StepsOptions): TriageSteps => {
  const { config, directory, messages } = options;
  const factsOf = (record: IncidentRecord, batches: LayerFacts[]): Facts => {
    const cluster = newestOf(batches)?.cluster ?? unknownCluster(record.incident.cluster);
    return unite(
      batches,
      targetOf(record.incident, record.alerts, cluster),
      newestOf(batches)?.readAt ?? options.now(),
    );
  };
  const escalationOf = (record: IncidentRecord, facts: Facts, verdict: Verdict, routing: Routing, audience?: Layer) =>
    escalate({
      incident: record.incident,
      alerts: record.alerts,
      facts,
      verdict,
      routing,
      language: config.language,
      ...(audience && { audience }),
    });
  return {
    ...engineSteps({ ...options, layerTimeoutMs: config.triage.layerTimeoutMs }),
    route: (record, facts, verdict) => route({ verdict, facts: factsOf(record, facts), directory }),
    escalate: (record, facts, verdict, routing) => escalationOf(record, factsOf(record, facts), verdict, routing),
    handOff(record, facts, verdict, to) {
      const all = factsOf(record, facts);
      const handed = handOffTo(to, 'a person handed it over', { verdict, facts: all, directory });
      return handed && { ...handed, escalation: escalationOf(record, all, verdict, handed.routing, handed.to) };
    },
    presentation(incident) {
      const settings = config.clusters.find((cluster) => cluster.name === incident.cluster);
      return {
        mode: settings?.mode ?? 'observe',
        channel: settings?.channel ?? config.slack.channel,
        pageUrl: options.pageUrl(incident.id),
      };
    },
    renderThread: (view) => renderThread(view, messages),
    renderWithdrawn: (view, slot) => renderWithdrawn(view, slot, messages),
    redact: async (value) => redact(value),
  };
};
