import type { Facts } from '../domain/facts.ts';
import type { Verdict } from '../domain/verdict.ts';

/** Names by which a vendor finds what happened in its own systems. */
export interface Identifiers {
  instances: string[];
  requests: string[];
  zones: string[];
  /** `usw2-az1`: the same in every account, which a zone's name is not. */
  zoneIds: string[];
  images: string[];
  volumes: string[];
  interfaces: string[];
  subnets: string[];
  errorCodes: string[];
}

const patterns: Record<keyof Identifiers, RegExp> = {
  instances: /(?<![\w-])i-[0-9a-z]{8,20}(?![\w-])/g,
  requests:
    /(?:request[ _-]?id|requestid|correlation[ _-]?id|activity[ _-]?id|operation[ _-]?id)\\?["']?\s{0,3}[:=]?\s{0,3}\\?["']?((?=[\w-]{0,40}\d)[A-Za-z0-9][\w-]{11,63})/gi,
  zones: /(?<![\w-])(?:[a-z]{2}(?:-[a-z]{2,12}){1,2}-?\d-?[a-z])(?![\w-])/g,
  zoneIds: /(?<![\w-])[a-z]{2,4}\d-az\d(?![\w-])/g,
  images: /(?<![\w-])ami-[0-9a-f]{8,17}(?![\w-])/g,
  volumes: /(?<![\w-])vol-[0-9a-f]{8,17}(?![\w-])/g,
  interfaces: /(?<![\w-])eni-[0-9a-f]{8,17}(?![\w-])/g,
  subnets: /(?<![\w-])(?:subnet|vsw)-[0-9a-z]{8,24}(?![\w-])/g,
  errorCodes:
    /(?<![\w.])(?:[A-Z][A-Za-z]+(?:Capacity|Exceeded|InSubnet|Operation|Failure|Failed|Unauthorized|Exception|Stock|Blocked|Invalid|NotFound)|Unsupported|UnfulfillableCapacity|AllocationFailed|[A-Z]+(?:_[A-Z]+)*_(?:EXHAUSTED|EXCEEDED|ISSUE))(?!\w)/g,
};

const maxOfEach = 20;

/** Everything the verdict's evidence names, in the order in which it is named. */
export const identifiersIn = (verdict: Verdict): Identifiers => {
  const text = [
    verdict.cause.en,
    ...verdict.evidence.flatMap(({ object, value, text }) => [object, value, text]),
    ...verdict.chain.flatMap(({ object, claim }) => [object, claim]),
  ].join('\n');
  const found = Object.entries(patterns).map(([name, pattern]) => {
    const all = [...text.matchAll(pattern)].map((match) => match[1] ?? match[0]);
    return [name, [...new Set(all)].slice(0, maxOfEach)];
  });
  return Object.fromEntries(found) as Identifiers;
};

/** Zone name → zone id, from whatever cloud answer holds the two side by side, and from the nodes' labels. */
export const zoneIdsOf = (facts: Facts): Map<string, string> => {
  const ids = new Map<string, string>();
  for (const { metadata } of facts.objects) {
    const zone = metadata.labels?.['topology.kubernetes.io/zone'];
    const id = metadata.labels?.['topology.k8s.aws/zone-id'];
    if (zone && id) ids.set(zone, id);
  }
  for (const { answer } of facts.cloud) findPairs(answer, ids, 0);
  return ids;
};

const maxDepth = 8;

const findPairs = (value: any, ids: Map<string, string>, depth: number): void => {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return;
  const zone = value.AvailabilityZone ?? value.ZoneName ?? value.availabilityZone;
  const id = value.AvailabilityZoneId ?? value.ZoneId ?? value.availabilityZoneId;
  if (typeof zone === 'string' && typeof id === 'string') ids.set(zone, id);
  for (const inner of Object.values(value)) findPairs(inner, ids, depth + 1);
};
