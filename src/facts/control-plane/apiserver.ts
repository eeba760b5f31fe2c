import type { Series } from '../../domain/facts.ts';
import type { ClusterFacts } from '../cluster.ts';
import { type LogLine, linesLike } from '../logs/log-search.ts';
import { failedReads } from '../logs/witness.ts';
import { rateCurve } from '../series.ts';

/** Names of the checks that /readyz or /livez reports as failed. */
export const failedChecks = (facts: ClusterFacts): string[] => [
  ...new Set(
    (['readyz', 'livez'] as const).flatMap((path) =>
      [...(facts.probe(path)?.body ?? '').matchAll(/^\[-\](\S+) failed/gm)].map((match) => match[1]!),
    ),
  ),
];

const full = /database space exceeded|mvcc: database space|NOSPACE/i;

/** Witnesses that etcd refuses writes because its quota is used up. */
export const spaceExceeded = (facts: ClusterFacts) => ({
  lines: linesLike(facts, full),
  events: facts.events.filter((event) => full.test(event.message)),
  reads: failedReads(facts, full),
});

export const isSpaceExceeded = (facts: ClusterFacts): boolean => {
  const { lines, events, reads } = spaceExceeded(facts);
  return lines.length + events.length + reads.length > 0;
};

/** Errors that the API server passes on from etcd, other than a full database. */
export const etcdTimeout = /etcdserver: (request timed out|leader changed|no leader|too many requests|server stopped)/;

export const etcdTimeouts = (facts: ClusterFacts): { lines: LogLine[]; reads: ReturnType<typeof failedReads> } => ({
  lines: linesLike(facts, etcdTimeout),
  reads: failedReads(facts, etcdTimeout),
});

const serverError = (series: Series): boolean => /^5/.test(series.labels.code ?? '');

/** Unix seconds of the first and last minute in which the API server answered 5xx; undefined where it never did. */
export const errorWindow = (facts: ClusterFacts): { from: number; to: number; series: Series } | undefined => {
  const curves = [
    ...facts
      .series('apiserver_request_total')
      .filter(serverError)
      .map((series) => ({ series, curve: rateCurve(series) })),
    ...facts
      .series('apiserver_request_total:rate5m')
      .filter(serverError)
      .map((series) => ({ series, curve: series })),
  ];
  const busy = curves.flatMap(({ series, curve }) =>
    curve.points.filter(([, value]) => value > 0).map(([at]) => ({ at, series })),
  );
  if (busy.length === 0) return undefined;
  const times = busy.map((entry) => entry.at);
  return { from: Math.min(...times), to: Math.max(...times), series: busy[0]!.series };
};
