import type { ClusterIdentity, LayerFacts } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { resources } from '../../triage/resources.ts';
import { isPathSegment } from '../kubernetes/paths.ts';
import { groupOf } from '../kubernetes/snapshot-objects.ts';
import { apiserverOf, collectedKinds } from './apiserver.ts';
import { openMetricsText } from './openmetrics-text.ts';

/** An incident as it was read, redacted already. */
export interface Captured {
  id: string;
  title: string;
  cluster: ClusterIdentity;
  /** ISO 8601. */
  capturedAt: string;
  /** The webhook body, where there was one. */
  alert?: unknown;
  facts: LayerFacts[];
}

export interface CaseFiles {
  /** Contents by path in the folder. */
  files: Map<string, string>;
  /** What was read and the format cannot say. */
  untold: string[];
}

/**
 * An incident folder (docs/cases.md) of exactly what a triage read; without `expected`, which people add. Pure.
 *
 * The format cannot tell: the text of a 403 (it reads as "Forbidden"); why a cloud call was not answered (all read as
 * not allowed); that a list was cut at its bound; a staleness marker (a series that ended less than the lookback ago
 * seems to go on for up to four minutes). What else is lost is in `untold`.
 */
export const caseFiles = (captured: Captured): CaseFiles => {
  const { id, title, cluster, capturedAt, alert, facts } = captured;
  const reads = facts.flatMap((batch) => batch.reads);
  const probes = facts.flatMap((batch) => batch.probes);
  const { apiserver, untold } = apiserverOf(reads, probes);
  const { name, provider, region, account } = cluster;
  const caseJson = {
    id,
    title,
    provider,
    cluster: name,
    ...(region && { region }),
    ...(account && { account }),
    captured_at: capturedAt,
    apiserver,
    collected: collectedKinds(reads),
  };
  const unreadMetrics = reads.filter(
    ({ source, gap }) => source === 'metrics' && gap && gap.reason !== 'not-configured',
  );
  return {
    files: new Map([
      ['case.json', json(caseJson)],
      ...(alert === undefined ? [] : [['alert.json', json(alert)] as const]),
      ...objectFiles(facts),
      ...logFiles(facts),
      ...metricsFile(facts, Date.parse(capturedAt) / 1000),
      ...cloudFiles(facts),
    ]),
    untold: [...untold, ...unreadMetrics.map(({ gap }) => gap!.message)],
  };
};

type Files = (readonly [path: string, content: string])[];

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

const typeOf = (group: string, kind: string): string => `${group}/${kind}`;
const plurals = new Map(Object.values(resources).map(({ group, kind, plural }) => [typeOf(group, kind), plural]));

/** One List for each kind. An object that several layers read is kept as it was read last. */
const objectFiles = (facts: LayerFacts[]): Files => {
  const latest = new Map<string, KubeObject>();
  for (const object of facts.flatMap((batch) => batch.objects)) {
    const { namespace = '', name } = object.metadata;
    latest.set([typeOf(groupOf(object), object.kind), namespace, name].join(' '), object);
  }
  const byPlural = Map.groupBy(latest.values(), (object) => plurals.get(typeOf(groupOf(object), object.kind)));
  return [...byPlural]
    .filter(([plural]) => plural !== undefined)
    .map(([plural, items]) => [`cluster/${plural}.json`, json({ apiVersion: 'v1', kind: 'List', items })]);
};

const logFiles = (facts: LayerFacts[]): Files =>
  facts
    .flatMap((batch) => batch.logs)
    .filter(({ namespace, pod, container }) => [namespace, pod, container].every(isPathSegment))
    .map(({ namespace, pod, container, previous, text }) => [
      `logs/${namespace}/${pod}/${container}${previous ? '.previous' : ''}.log`,
      text,
    ]);

/** None where no Prometheus was asked: an empty file says that one was, and that it had no such series. */
const metricsFile = (facts: LayerFacts[], end: number): Files => {
  const asked = facts.flatMap((batch) => batch.reads).filter(({ source }) => source === 'metrics');
  if (asked.every(({ gap }) => gap)) return [];
  const byKey = new Map(
    facts.flatMap((batch) => batch.series).map((series) => [series.name + JSON.stringify(series.labels), series]),
  );
  return [['metrics.om', openMetricsText([...byKey.values()], end)]];
};

/** None where no cloud was asked. A call without an answer is left out, which is how a case says "not allowed". */
const cloudFiles = (facts: LayerFacts[]): Files => {
  const asked = facts.flatMap((batch) => batch.reads).filter(({ source }) => source === 'cloudwatch');
  if (asked.length === 0) return [];
  const answers = facts.flatMap((batch) => batch.cloud).map(({ call, answer }) => [call, answer]);
  const series = facts
    .flatMap((batch) => batch.cloudWatch)
    .map(({ periodSeconds, points, ...one }) => ({ ...one, period: periodSeconds, points }));
  return [
    ['aws.json', json(Object.fromEntries(answers))],
    ...(asked.some(({ gap }) => !gap) ? [['cloudwatch.json', json({ series })] as const] : []),
  ];
};
