import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { minutesBetween } from '../time.ts';
import { allCrashes, type Crash } from './crashes.ts';
import { rolloutOf } from './workloads.ts';

/** Shorter last words are a frame's, which any two programs may share. */
const tellingLetters = 25;
const settledMinutes = 24 * 60;

/** The last words without times, numbers and names of hosts or objects: two programs say alike what ended both. */
const gist = (crash: Crash): string =>
  (crash.lines.at(-1)?.text ?? '')
    .replace(/\S*[\d/]\S*/g, '')
    .replace(/[^A-Za-z]+/g, ' ')
    .trim()
    .toLowerCase();

/**
 * Workloads of other namespaces that end with the same last words, where no template changed lately, theirs or this
 * one's: what ended them all lies above the applications.
 */
export const endingAlike = (facts: ClusterFacts, crash: Crash): KubeObject[] => {
  const words = gist(crash);
  if (words.length < tellingLetters || changed(facts, crash)) return [];
  const alike = allCrashes(facts).filter(
    (other) =>
      other.pod.metadata.namespace !== crash.pod.metadata.namespace && gist(other) === words && !changed(facts, other),
  );
  return [...new Set(alike.map((other) => facts.workloadOf(other.pod)))];
};

const changed = (facts: ClusterFacts, crash: Crash): boolean => {
  const rollout = rolloutOf(facts, facts.workloadOf(crash.pod));
  return rollout?.previous !== undefined && minutesBetween(rollout.at, facts.now) < settledMinutes;
};
