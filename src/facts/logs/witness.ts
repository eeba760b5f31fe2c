import type { Alert } from '../../domain/alert.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { FactSource, ReadRecord } from '../../domain/facts.ts';
import type { Layer } from '../../domain/layer.ts';
import type { ClusterFacts } from '../cluster.ts';

/** An alert as evidence of itself: that a rule matched, and since when. */
export const alertEvidence = (layer: Layer, alert: Alert): Evidence => ({
  layer,
  source: 'alert',
  object: `Alert ${alert.labels.alertname ?? ''}`,
  field: 'labels',
  value: Object.entries(alert.labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' '),
  text: alert.annotations.description ?? alert.annotations.summary ?? '',
  at: alert.startsAt,
  reproduce: alert.generatorURL ?? `amtool alert query alertname=${alert.labels.alertname ?? ''}`,
  limits: 'that a rule matched; not why',
});

const ofApiServer: ReadonlySet<FactSource> = new Set(['kubernetes', 'log', 'probe']);

/** Our own reads are clients of the API server like any other: how they failed is evidence of its state. */
export const failedReads = (facts: ClusterFacts, pattern: RegExp): ReadRecord[] =>
  facts.reads.filter((read) => read.gap && ofApiServer.has(read.source) && pattern.test(read.gap.message));

export const readEvidence = (layer: Layer, facts: ClusterFacts, read: ReadRecord): Evidence => ({
  layer,
  source: 'probe',
  object: `API server of ${facts.identity.name}`,
  field: `read of ${read.what}${read.namespace ? ` in ${read.namespace}` : ''}`,
  value: read.gap?.reason ?? '',
  text: (read.gap?.message ?? '').slice(0, 600),
  at: facts.now,
  reproduce: read.gap?.fix.includes('kubectl')
    ? read.gap.fix.replace(/^.*?(kubectl)/, '$1')
    : `kubectl get ${read.what}`,
  limits: 'one call of ours at one moment; not what other clients got',
});
