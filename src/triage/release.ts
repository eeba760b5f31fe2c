import type { Evidence } from '../domain/evidence.ts';
import type { Finding } from '../domain/finding.ts';
import { describeRef } from '../domain/kubernetes.ts';
import { text } from '../domain/text.ts';
import { authorOf, citeChange, type LastChange, lastChangeOf } from '../facts/changes/last-change.ts';
import { cite } from '../facts/cite.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { ownershipOf } from '../facts/ownership.ts';
import { duration, earliest, minutesBetween } from '../facts/time.ts';

/** A change that acts acts soon; one that was long in use has worked. */
const shortlyMinutes = 60;
/** Clocks of writers and witnesses differ by this much. */
const slackMinutes = 2;

/**
 * Tells of the object at fault what was changed in it shortly before the onset, by whom, and how its owner takes that
 * back. A change after the onset, of another object, or of an object that somebody else owns adds nothing.
 */
export const withRelease = (root: Finding, facts: ClusterFacts): Finding => {
  const found = facts.resolve(root.root);
  const object = found && (found.kind === 'Pod' || found.kind === 'ReplicaSet' ? facts.workloadOf(found) : found);
  if (!object || root.state !== 'fault') return root;
  const own = ownershipOf(facts, object);
  if (root.owner !== own && root.owner !== 'undetermined') return root;
  const change = lastChangeOf(facts, object);
  if (!change || (change.what.length === 0 && !change.delivered && !change.write)) return root;
  const onset = earliest(root.onset, facts.alerts[0]?.startsAt) ?? facts.now;
  const minutes = minutesBetween(change.at, onset);
  if (minutes < -slackMinutes || minutes > shortlyMinutes) return root;

  const felt = minutesBetween(change.at, facts.alerts[0]?.startsAt ?? onset);
  const when = `changed ${duration(Math.max(0, felt))} before the ${facts.alerts[0] ? 'alert' : 'onset'}${authorOf(change) ? ` ${authorOf(change)}` : ''}`;
  return {
    ...root,
    evidence: united(root.evidence, citeChange(cite(own, facts), change, when)),
    nextSteps: root.owner === own ? stepsBack(root, change) : root.nextSteps,
  };
};

/** What the rule cites of the change itself says when and by whom as well. */
const united = (cited: Evidence[], change: Evidence[]): Evidence[] => {
  const keyOf = (entry: Evidence): string => `${entry.object}/${entry.field}`;
  const told = new Map(change.map((entry) => [keyOf(entry), entry]));
  const known = new Set(cited.map(keyOf));
  return [
    ...cited.map((entry) => told.get(keyOf(entry)) ?? entry),
    ...change.filter((entry) => !known.has(keyOf(entry))),
  ];
};

/** The rules' own rollback, where a tool would undo it, becomes the tool's; a root without one gets it as last step. */
const stepsBack = ({ nextSteps }: Finding, change: LastChange): Finding['nextSteps'] => {
  const { undo, object } = change;
  if (!undo) return nextSteps;
  const { kind, metadata } = object;
  const byHand = [
    `kubectl rollout undo ${kind.toLowerCase()}/${metadata.name} -n ${metadata.namespace}`,
    `kubectl -n ${metadata.namespace} rollout undo ${kind.toLowerCase()}/${metadata.name}`,
  ];
  const isMentioned = nextSteps.some(({ en }) => [...byHand, undo].some((command) => en.includes(command)));
  if (!isMentioned)
    return [...nextSteps, text(`If the change of ${describeRef({ kind, ...metadata })} is not to stay: ${undo}`)];
  return nextSteps.map(
    (step) =>
      Object.fromEntries(
        Object.entries(step).map(([language, sentence]) => [
          language,
          byHand.reduce((words, command) => words.replaceAll(command, undo), sentence),
        ]),
      ) as typeof step,
  );
};
