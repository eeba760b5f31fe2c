import type { Resource } from '../ports.ts';
import { qualifiedName } from '../resources.ts';
import type { Collection } from './collection.ts';
import type { RankedLog } from './logs.ts';
import { type Situation, situationOf } from './situation.ts';

/** Rounds of a triage: the reads of one go out together, and what they say decides the next one. */
const waves = [1, 2, 3] as const;
type Wave = (typeof waves)[number];

/** Where a resource is looked for. Without a namespace: in all of them; with a name: that one object. */
export interface Place {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  name?: string;
}

/** One read that a layer may make. To add one is one entry of a plan. */
export interface Candidate {
  resource: Resource;
  /** The first wave in which it can run; what is worth nothing yet is considered again in the next. */
  wave: Wave;
  /** One read per place, the most telling first. Absent: one bounded list over the whole cluster. */
  where?: (situation: Situation) => Place[];
  /** 0: nothing speaks for reading it. The higher, the sooner, where calls run short (1 to 100). */
  worth: (situation: Situation) => number;
}

export interface Plan {
  candidates: Candidate[];
  /** Container logs in the order in which they would tell most. */
  logs: (situation: Situation) => RankedLog[];
  /** Logs that are read where reading costs nothing. */
  maxLogs: number;
  /** Calls that wave 1 leaves to what only its facts can ask for. */
  keptForNeeds: number;
  /** Calls that the lists leave to logs, where so many are wanted. */
  keptForLogs: (situation: Situation) => number;
}

/** A second place of the same kind tells less than the first: the second namespace, the third node. */
const laterPlaces = 0.6;

interface Due extends Place {
  resource: Resource;
  worth: number;
  key: string;
}

const named = ({ resource, namespace, name, labelSelector, fieldSelector }: Omit<Due, 'key' | 'worth'>): string =>
  [
    qualifiedName(resource),
    name,
    namespace && `in ${namespace}`,
    (labelSelector || fieldSelector) && `(${[labelSelector, fieldSelector].filter(Boolean).join(', ')})`,
  ]
    .filter(Boolean)
    .join(' ');

/** What the situation asks for, the most telling first. */
const dueIn = (candidates: Candidate[], wave: Wave, situation: Situation, least: number): Due[] =>
  candidates
    .filter((candidate) => candidate.wave <= wave)
    .flatMap(({ resource, where, worth }) => {
      const value = Math.max(least, worth(situation));
      if (value <= 0) return [];
      return (where?.(situation) ?? [{}]).map((place, index) => ({
        ...place,
        resource,
        worth: value * laterPlaces ** index,
        key: named({ resource, ...place }),
      }));
    })
    .sort((a, b) => b.worth - a.worth)
    .filter(({ key }, index, all) => all.findIndex((other) => other.key === key) === index);

/**
 * Reads what a plan holds, in waves, with the calls the layer has. What did not fit is a gap that says so; what nothing spoke
 * for is remembered as skipped. Of a recorded cluster all is read.
 */
export const followPlan = async (collection: Collection, plan: Plan): Promise<void> => {
  const absent = await collection.absent(plan.candidates.map(({ resource }) => resource));
  const done = new Set<string>();
  for (const wave of waves) {
    const situation = situationOf(collection);
    const logs = wave === 1 ? [] : plan.logs(situation);
    const forLogs = plan.keptForLogs(situation);
    const telling = logs.filter(({ isTelling }) => isTelling).length;
    const kept = wave === 3 ? Math.min(forLogs, telling) : wave === 1 ? forLogs + plan.keptForNeeds : forLogs;
    const due = dueIn(plan.candidates, wave, situation, collection.callsLeft === Infinity ? 1 : 0).filter(
      ({ key }) => !done.has(key),
    );
    const [free, dear] = [true, false].map((isFree) => due.filter(({ resource }) => absent.has(resource) === isFree));
    const affordable = dear!.slice(0, Math.max(0, collection.callsLeft - kept));
    const left = collection.callsLeft - affordable.length;
    const reads = [...free!, ...affordable];
    for (const { key } of reads) done.add(key);
    await Promise.all([
      ...reads.map((read) => readOne(collection, read)),
      ...(wave === 3 ? [collection.logs(logs, Math.min(left, plan.maxLogs))] : []),
    ]);
    if (wave === 3)
      for (const { resource, key, namespace } of dear!.slice(affordable.length))
        collection.unread(resource, key, namespace);
  }
  collection.skipped(plan.candidates.map(({ resource }) => resource.plural));
};

const readOne = (
  collection: Collection,
  { resource, namespace, name, labelSelector, fieldSelector }: Due,
): Promise<void> =>
  name
    ? collection.get(resource, name, namespace)
    : collection.list(resource, {
        ...(namespace && { namespace }),
        ...(labelSelector && { labelSelector }),
        ...(fieldSelector && { fieldSelector }),
      });
