import type { Series } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { firstValue, lastValue, rate } from '../series.ts';

/** A container whose CPU quota stops it: in which share of its periods now, and as the course begins. */
export interface Throttled {
  series: Series;
  share: number;
  before: number;
}

/** Ratios as recording rules call them; the counters are cAdvisor's. */
const ratio = /^container.*throttl.*(?:ratio|percent|share)|^container.*throttled(?::|_)(?:ratio|rate)/i;

/** Throttled containers of these pods, the most throttled first. */
export const throttledOf = (facts: ClusterFacts, pods: KubeObject[]): Throttled[] => {
  const own = new Set(pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  const isOwn = ({ labels }: Series): boolean => own.has(`${labels.namespace}/${labels.pod}`);
  const ratios = facts
    .seriesLike(ratio)
    .filter(isOwn)
    .map((series) => {
      const scale = /percent/i.test(series.name) ? 100 : 1;
      return { series, share: lastValue(series) / scale, before: firstValue(series) / scale };
    });
  const counted = facts
    .series('container_cpu_cfs_throttled_periods_total')
    .filter(isOwn)
    .flatMap((series) => {
      const { namespace = '', pod = '', container = '' } = series.labels;
      const periods = facts.series('container_cpu_cfs_periods_total', { namespace, pod, container })[0];
      const middle = series.points[Math.floor(series.points.length / 4)]?.[0];
      return periods
        ? [
            {
              series,
              share: rate(series) / rate(periods),
              before: rate(series, -Infinity, middle) / rate(periods, -Infinity, middle),
            },
          ]
        : [];
    });
  return [...ratios, ...counted].sort((a, b) => b.share - a.share);
};
