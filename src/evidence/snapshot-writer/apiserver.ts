import type { Gap, ProbeAnswer, ReadRecord } from '../../domain/facts.ts';
import { qualifiedName, type ReadableResource, resources } from '../../triage/resources.ts';
import type { ApiServerAnswers } from '../kubernetes/case-file.ts';
import { defaultCallTimeoutMs } from '../kubernetes/gaps.ts';

type Failure = ApiServerAnswers['fail'][number];

/** What the API server itself answered, and which refusals a case cannot tell. */
export interface ApiServerRecord {
  apiserver: ApiServerAnswers;
  untold: string[];
}

const podLogs = 'pods/log';

/**
 * `apiserver` of case.json from what was read. A case names resources that are denied or fail as a whole: where some
 * reads of one were answered, the answers are kept and the refusal goes untold.
 */
export const apiserverOf = (reads: ReadRecord[], probes: ProbeAnswer[]): ApiServerRecord => {
  const apiserver: ApiServerAnswers = { ...probesOf(probes), deny: [], fail: [] };
  const untold: string[] = [];
  const ofServer = reads.filter(({ source }) => source === 'kubernetes' || source === 'log');
  const byResource = Map.groupBy(ofServer, ({ source, what }) => (source === 'log' ? podLogs : what));
  for (const [what, asked] of byResource) {
    const refusals = asked.flatMap(({ gap }) => (gap && isRefusal(gap) ? [gap] : []));
    const [first] = refusals;
    if (!first) continue;
    if (asked.some(({ gap }) => !gap))
      untold.push(`${what}: ${refusals.length} of ${asked.length} reads, ${first.message}`);
    else if (first.reason === 'forbidden') apiserver.deny.push(patternOf(what));
    else apiserver.fail.push(failureOf(patternOf(what), first));
  }
  const unanswered = reads.flatMap(({ source, gap }) => (source === 'probe' && gap && isRefusal(gap) ? [gap] : []));
  if (unanswered.length > 0 && isSilent(ofServer, unanswered)) apiserver.latency_ms = beyondTimeoutMs(unanswered[0]!);
  else untold.push(...unanswered.map(({ message }) => message));
  return { apiserver, untold };
};

/** Kinds that were asked for and answered, even where there are none. */
export const collectedKinds = (reads: ReadRecord[]): string[] => {
  const asked = Map.groupBy(
    reads.filter(({ source }) => source === 'kubernetes'),
    ({ what }) => what,
  );
  const answered = [...asked].filter(([, list]) => list.some(({ gap }) => !gap)).map(([what]) => what);
  // ConfigMaps are read by name, and one that does not exist leaves no record.
  if (answered.length > 0 && !asked.has(resources.configmaps.plural)) answered.push(resources.configmaps.plural);
  return answered.flatMap((what) => resourceOf(what)?.kind ?? []).sort();
};

const isRefusal = ({ reason }: Gap): boolean => reason === 'forbidden' || reason === 'failed' || reason === 'timeout';

/** Nothing at all came back in time: that is what `latency_ms` says of a whole server. */
const isSilent = (reads: ReadRecord[], probes: Gap[]): boolean =>
  reads.every(({ gap }) => gap?.reason === 'timeout') && probes.every(({ reason }) => reason === 'timeout');

const probesOf = (probes: ProbeAnswer[]): Pick<ApiServerAnswers, 'readyz' | 'livez' | 'latency_ms'> => {
  const of = (path: ProbeAnswer['path']): ProbeAnswer | undefined => probes.find((probe) => probe.path === path);
  const said = (path: ProbeAnswer['path']) => {
    const probe = of(path);
    return probe && { [path]: { status: probe.status, body: probe.body } };
  };
  return { ...said('readyz'), ...said('livez'), latency_ms: (of('readyz') ?? of('livez'))?.latencyMs ?? 0 };
};

const resourceOf = (plural: string): ReadableResource | undefined =>
  Object.values<ReadableResource>(resources).find((resource) => resource.plural === plural);

const patternOf = (what: string): string => {
  const resource = resourceOf(what);
  return resource ? qualifiedName(resource) : what;
};

/** The reader's own words hold the status: `cannot list events in shop: 500 etcdserver: request timed out`. */
const saidStatus = /: (?:HTTP )?([1-5]\d\d)(?: (.*))?$/s;

const failureOf = (resource: string, gap: Gap): Failure => {
  const [, status, message = ''] = saidStatus.exec(gap.message) ?? [];
  if (status) return { resource, status: Number(status), message, latency_ms: 0 };
  return gap.reason === 'timeout'
    ? { resource, status: 504, message: gap.message, latency_ms: beyondTimeoutMs(gap) }
    : { resource, status: 503, message: gap.message, latency_ms: 0 };
};

/** Later than the reader waited, and than a reader of the case waits. */
const beyondTimeoutMs = ({ message }: Gap): number =>
  Math.max(Number(/within (\d+) ms/.exec(message)?.[1] ?? 0), defaultCallTimeoutMs) + 1;
