import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { zoneNames } from '../../facts/aws.ts';
import { volumeZones } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { podSpecOf } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { addMinutes, earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Karpenter repeats its warning while a shift goes on. */
const recentMinutes = 60;

interface Shift {
  zone: string;
  /** AWS moves away by itself, somebody of the account asked for it, or a practice run does. */
  by: 'vendor' | 'account' | 'practice' | 'unknown';
  at?: string;
  says: string;
  cite(evidence: ReturnType<typeof cite>): ReturnType<ReturnType<typeof cite>['aws']>;
}

export default rule({
  title: 'A zonal shift moves traffic and new machines away from a zone that waiting pods need, or that a pool loses',
  lookAlikes: [
    'a practice run of the shift: it ends by itself',
    'pods that could go to another zone: the shift is beside the point',
    'a shift somebody of the account started, with no event of the vendor',
  ],
  judge(facts, scope) {
    return activeShifts(facts).flatMap((shift): FindingDraft[] => {
      const victims = victimsOf(facts, scope, shift.zone);
      if (victims.length === 0) return [];
      const owner = shift.by === 'vendor' ? 'cloud' : shift.by === 'unknown' ? 'undetermined' : 'platform';
      const evidence = cite(owner === 'platform' ? 'platform' : 'cloud', facts);
      const pool = facts.events.findLast((event) => event.reason === 'ZonalShiftActive');
      return [
        {
          mechanism: 'zone-outage',
          explains: [
            'pending',
            'scheduling',
            'volume',
            'launch-failed',
            'pool-mismatch',
            'rollout',
            'unknown-symptom',
            'load',
          ],
          state: shift.by === 'practice' ? 'expected' : 'fault',
          owner,
          boundary: 'zone',
          strength: 'direct',
          cause: text(
            `${shift.says} zone ${shift.zone}${shift.at ? ` since ${shift.at}` : ''}, so no machine is made there, and ${victims.length} of the objects concerned need that zone.`,
          ),
          root: { kind: 'Zone', name: shift.zone },
          affects: victims.map(refOf),
          onset: shift.at ?? earliest(pool?.firstAt),
          evidence: [
            shift.cite(evidence),
            ...(pool ? [evidence.event(pool)] : []),
            ...victims
              .slice(0, 2)
              .map((object) =>
                object.kind === 'Pod'
                  ? evidence.condition(object, 'PodScheduled')
                  : evidence.field(object, 'spec.template.spec.requirements'),
              ),
          ],
          chain: [
            { object: `Zone ${shift.zone}`, claim: shift.says },
            ...victims.slice(0, 3).map((object) => link(object, `needs ${shift.zone}`)),
          ],
          nextSteps: [
            text(
              owner === 'cloud'
                ? 'Wait for AWS to end the autoshift; bring up what can run in other zones, and restore zonal volumes there from snapshots if it lasts.'
                : 'aws arc-zonal-shift list-zonal-shifts --status ACTIVE, and cancel the shift if its reason has gone: aws arc-zonal-shift cancel-zonal-shift --zonal-shift-id …',
            ),
          ],
          missing:
            shift.by === 'unknown'
              ? [
                  {
                    layer: 'cloud',
                    missing: 'whether AWS or somebody of the account started the zonal shift',
                    fix: 'allow `arc-zonal-shift:ListAutoshifts` and `arc-zonal-shift:ListZonalShifts` to the read role of this account',
                  },
                ]
              : [],
          deadline: shift.by === 'practice' ? addMinutes(facts.now, 45) : undefined,
        },
      ];
    });
  },
});

const activeShifts = (facts: ClusterFacts): Shift[] => {
  const names = new Map([...zoneNames(facts), ...pairsTold(facts)]);
  const items = (call: string): any[] =>
    ((facts.cloud(call)?.items ?? []) as any[]).filter((item) => (item.status ?? 'ACTIVE') === 'ACTIVE');
  const nameOf = (item: any): string => names.get(item.awayFrom) ?? item.awayFrom ?? '';
  const auto = items('arc-zonal-shift.listAutoshifts').map(
    (item, index): Shift => ({
      zone: nameOf(item),
      by: 'vendor',
      at: item.startTime,
      says: 'AWS shifts away (zonal autoshift) from',
      cite: (evidence) =>
        evidence.aws(
          'arc-zonal-shift.listAutoshifts',
          `items[${index}].awayFrom`,
          item.awayFrom,
          item.status ?? '',
          item.startTime,
        ),
    }),
  );
  const asked = items('arc-zonal-shift.listZonalShifts').map((item, index): Shift => {
    const practice = item.shiftType === 'PRACTICE_RUN' || item.practiceRunOutcome !== undefined;
    const zone = nameOf(item);
    // AWS starts one shift per resource for its own autoshift.
    const vendor = item.shiftType === 'ZONAL_AUTOSHIFT' || auto.some((shift) => shift.zone === zone);
    return {
      zone,
      by: vendor ? 'vendor' : practice ? 'practice' : 'account',
      at: item.startTime,
      says: practice
        ? 'a practice run shifts away from'
        : `${vendor ? 'AWS shifts away (zonal autoshift)' : 'the account started a zonal shift away'} from`,
      cite: (evidence) =>
        evidence.aws(
          'arc-zonal-shift.listZonalShifts',
          `items[${index}].awayFrom`,
          item.awayFrom,
          [item.resourceIdentifier, item.comment].filter(Boolean).join(': '),
          item.startTime,
        ),
    };
  });
  const known = [...auto, ...asked.filter((shift) => !auto.some((other) => other.zone === shift.zone))];
  return [...known, ...toldByKarpenter(facts).filter((shift) => !known.some((other) => other.zone === shift.zone))];
};

/** Karpenter names the zone with its id: `in zone us-east-1a (use1-az4)`. */
const pairsTold = (facts: ClusterFacts): [string, string][] =>
  facts.events
    .filter((event) => event.reason === 'ZonalShiftActive')
    .flatMap((event): [string, string][] => {
      const [, name, id] = /in zone (\S+) \(([\w-]+)\)/.exec(event.message) ?? [];
      return name && id ? [[id, name]] : [];
    });

const toldByKarpenter = (facts: ClusterFacts): Shift[] => {
  const last = new Map<string, Shift>();
  for (const event of facts.events) {
    const zone = /in zone (\S+)/.exec(event.message)?.[1] ?? '';
    if (event.reason === 'ZonalShiftCleared') last.delete(zone);
    if (event.reason === 'ZonalShiftActive' && minutesBetween(event.lastAt, facts.now) < recentMinutes)
      last.set(zone, {
        zone,
        by: 'unknown',
        at: event.firstAt,
        says: 'a zonal shift is active away from',
        cite: (evidence) => evidence.event(event),
      });
  }
  return [...last.values()];
};

/** Waiting pods that can only run in the zone, and pools of the scope that Karpenter says lose it. */
const victimsOf = (facts: ClusterFacts, scope: Scope, zone: string): KubeObject[] => [
  ...scope.troubledPods.filter(
    (pod) =>
      pod.status?.phase === 'Pending' &&
      !pod.spec?.nodeName &&
      ((volumeZones(facts, pod) ?? []).join() === zone || selectedZone(pod) === zone),
  ),
  ...scope.pools.filter((pool) =>
    facts.eventsAbout(pool, 'ZonalShiftActive').some((event) => event.message.includes(zone)),
  ),
];

const selectedZone = (pod: KubeObject): string | undefined =>
  podSpecOf(pod).nodeSelector?.['topology.kubernetes.io/zone'];
