import type { Evidence, EvidenceSource } from '../domain/evidence.ts';
import type { CloudWatchSeries, ContainerLog, ProbeAnswer, Series } from '../domain/facts.ts';
import { describeRef, type KubeEvent, type KubeObject, refOf } from '../domain/kubernetes.ts';
import type { Layer } from '../domain/layer.ts';
import { shellWord } from '../domain/shell.ts';
import { awsCommand } from './aws-command.ts';
import type { ClusterFacts } from './cluster.ts';
import { condition } from './conditions.ts';
import { addMinutes } from './time.ts';

/** What each source cannot show, whatever it says. */
const limits: Record<EvidenceSource, string> = {
  kubernetes: 'the state when it was read; not who changed it or what it was before',
  event: 'events expire after about an hour and similar ones are merged, so counts are a floor',
  log: 'the part of the log that was kept; not what other replicas wrote',
  probe: 'one API server behind the load balancer; not its siblings',
  metrics: 'what was scraped; a gap may be the scrape, not the target',
  cloudwatch: 'minute averages; not single requests, and not whose they were',
  aws: 'what the API knows; AWS Health can lag by hours, so silence proves nothing',
  alert: 'that a rule matched; not why',
};

/** Evidence builders of one layer: each knows how its source is named, seen again, and limited. */
export const cite = (layer: Layer, facts: ClusterFacts) => {
  const evidence = (source: EvidenceSource, rest: Omit<Evidence, 'layer' | 'source' | 'limits'>): Evidence => ({
    layer,
    source,
    ...rest,
    limits: limits[source],
  });

  return {
    /** A field of an object, by dotted path; `value` where the path is not plain. */
    field(object: KubeObject, path: string, value?: unknown, text = ''): Evidence {
      return evidence('kubernetes', {
        object: describeRef(refOf(object)),
        uid: object.metadata.uid,
        field: path,
        value: show(value === undefined ? read(object, path) : value),
        text,
        reproduce: `kubectl get ${getLine(object)} -o yaml${path.startsWith('metadata.managedFields') ? ' --show-managed-fields' : ''}`,
      });
    },

    /** One label: its key is the field's name, since a whole set of labels says nothing at a glance. */
    label(object: KubeObject, key: string, text = ''): Evidence {
      return evidence('kubernetes', {
        object: describeRef(refOf(object)),
        uid: object.metadata.uid,
        field: `label ${key}`,
        value: show(object.metadata.labels?.[key]),
        text,
        reproduce: `kubectl get ${getLine(object)} -L ${shellWord(key)}`,
      });
    },

    /** A status condition; the text is the machine's message. */
    condition(object: KubeObject, type: string): Evidence {
      const found = condition(object, type);
      return evidence('kubernetes', {
        object: describeRef(refOf(object)),
        uid: object.metadata.uid,
        field: `status.conditions[${type}]`,
        value: found ? [found.status, found.reason].filter(Boolean).join(' ') : 'absent',
        text: found?.message ?? '',
        at: found?.lastTransitionTime,
        reproduce: `kubectl get ${getLine(object)} -o jsonpath='{.status.conditions[?(@.type=="${type}")]}'`,
      });
    },

    event(event: KubeEvent): Evidence {
      const namespace = event.namespace || 'default';
      return evidence('event', {
        object: describeRef(event.regarding),
        uid: event.regarding.uid,
        field: event.reason || 'event',
        value: `${event.type} from ${event.source || 'unknown'}, ${event.count}×`,
        text: event.message,
        at: event.lastAt,
        reproduce: `kubectl events -n ${namespace} --for ${event.regarding.kind.toLowerCase()}/${event.regarding.name}`,
      });
    },

    /** One line of a container's log. */
    log(log: ContainerLog, line: string): Evidence {
      const pod = facts.find('Pod', log.pod, log.namespace);
      return evidence('log', {
        object: `Pod ${log.namespace}/${log.pod}`,
        uid: pod?.metadata.uid,
        field: `log of ${log.container}${log.previous ? ' (previous)' : ''}${log.store ? ` in ${log.store.name}` : ''}`,
        value: '',
        text: line.trim().slice(0, 600),
        at: /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line)?.[0],
        reproduce:
          log.store?.reproduce ??
          `kubectl logs -n ${log.namespace} ${log.pod} -c ${log.container}${log.previous ? ' --previous' : ''}`,
      });
    },

    probe(probe: ProbeAnswer): Evidence {
      return evidence('probe', {
        object: `API server of ${facts.identity.name}`,
        field: `/${probe.path}`,
        value: `HTTP ${probe.status} in ${probe.latencyMs} ms`,
        text: probe.body.slice(0, 600),
        at: facts.now,
        reproduce: `kubectl get --raw '/${probe.path}?verbose'`,
      });
    },

    /** A metric with the value or course that matters, in words. */
    series(series: Series, value: string): Evidence {
      const matchers = Object.entries(series.labels)
        // PromQL's strings are escaped as JSON's are.
        .map(([key, label]) => `${key}=${JSON.stringify(label)}`)
        .join(',');
      return evidence('metrics', {
        object: `${series.name}{${matchers}}`,
        field: series.name,
        value,
        text: '',
        at: series.points.length ? new Date(series.points.at(-1)![0] * 1000).toISOString() : undefined,
        reproduce: `${series.name}{${matchers}}`,
      });
    },

    cloudWatch(series: CloudWatchSeries, value: string): Evidence {
      const dimensions = Object.entries(series.dimensions).map(
        ([name, dimension]) => `Name=${name},Value=${dimension}`,
      );
      return evidence('cloudwatch', {
        object: `${series.namespace} ${dimensions.join(' ')}`.trimEnd(),
        field: `${series.metric} (${series.stat})`,
        value,
        text: '',
        at: series.points.at(-1)?.[0],
        reproduce: metricCommand(series, dimensions, facts.identity.region),
      });
    },

    /**
     * Part of a cloud API's answer, e.g. `aws('ec2.describeSubnets', 'Subnets[0].AvailableIpAddressCount', 0)`. An id
     * that the path, the value or the text names narrows the command that shows it again.
     */
    aws(call: string, path: string, value: unknown, text = '', at?: string): Evidence {
      const shown = show(value);
      const seen = `${path} ${shown} ${text}`;
      return evidence('aws', {
        object: call,
        field: path,
        value: shown,
        text,
        at,
        reproduce: awsCommand({ call, path, value: shown, seen, at }, facts),
      });
    },

    /**
     * That a list was read and holds nothing of the kind: an absence is a fact only where the read succeeded. `command`
     * lists what there is instead.
     */
    absence(what: string, where: string, command: string): Evidence {
      return evidence('kubernetes', {
        object: where,
        field: what,
        value: 'none',
        text: '',
        at: facts.now,
        reproduce: command,
      });
    },
  };
};

export type Cite = ReturnType<typeof cite>;

const getLine = (object: KubeObject): string => {
  const group = object.apiVersion?.includes('/') ? `.${object.apiVersion.split('/')[0]}` : '';
  const namespace = object.metadata.namespace ? ` -n ${object.metadata.namespace}` : '';
  return `${object.kind.toLowerCase()}${group} ${object.metadata.name}${namespace}`;
};

/** CloudWatch keeps percentiles apart, and wants a window: that of the points that were read. */
const metricCommand = (series: CloudWatchSeries, dimensions: string[], region: string | undefined): string => {
  const { namespace, metric, stat, periodSeconds, points } = series;
  const known = ['SampleCount', 'Average', 'Sum', 'Minimum', 'Maximum'].includes(stat);
  const [first, last] = [points[0]?.[0], points.at(-1)?.[0]];
  return [
    'aws cloudwatch get-metric-statistics',
    ...(region ? [`--region ${region}`] : []),
    `--namespace ${shellWord(namespace)} --metric-name ${shellWord(metric)}`,
    ...(dimensions.length > 0 ? [`--dimensions ${dimensions.map(quotedPair).join(' ')}`] : []),
    `${known ? '--statistics' : '--extended-statistics'} ${shellWord(stat)} --period ${periodSeconds}`,
    ...(first && last ? [`--start-time ${first} --end-time ${addMinutes(last, Math.ceil(periodSeconds / 60))}`] : []),
  ].join(' ');
};

/** The comma of `Name=…,Value=…` needs no quotes, what else a dimension holds may. */
const quotedPair = (pair: string): string => (/^[\w./:@=,-]+$/.test(pair) ? pair : shellWord(pair));

const read = (object: unknown, path: string): unknown =>
  path
    .split(/\.|\[(\d+)\]/)
    .filter(Boolean)
    .reduce<any>((value, key) => value?.[key], object);

const show = (value: unknown): string =>
  value === undefined ? 'absent' : typeof value === 'string' ? value : JSON.stringify(value);
