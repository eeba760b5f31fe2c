import type { LayerFacts, ReadRecord } from '../domain/facts.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import type { Scope } from '../facts/scope.ts';
import { resources } from './resources.ts';
import type { Rule } from './rule.ts';

const pluralOf = new Map<string, string>(
  Object.values(resources)
    .toReversed()
    .map(({ kind, plural }) => [kind, plural]),
);

/** The source that a question to the facts is put to; undefined where it is put to none that could be unread. */
const sourceOf = (question: string, [first]: unknown[]): string | undefined => {
  if (question === 'all' || question === 'in' || question === 'find') return pluralOf.get(String(first));
  if (question === 'cloud' || question === 'series' || question === 'probe') return String(first);
  return /^events/.test(question) ? 'events' : undefined;
};

/** The facts, remembering which sources they were asked about. */
const watched = (facts: ClusterFacts, asked: Set<string>): ClusterFacts =>
  new Proxy(facts, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (key === 'events') asked.add('events');
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const source = sourceOf(String(key), given);
        if (source) asked.add(source);
        return value.apply(target, given);
      };
    },
  });

/** The failed reads that a rule asked about: without them its silence does not say that there is nothing. */
export const unreadBy = (rule: Rule, facts: ClusterFacts, scope: Scope): Pick<LayerFacts, 'reads'> => {
  const asked = new Set<string>();
  rule.judge(watched(facts, asked), scope);
  const reads = [...asked].sort().flatMap((what): ReadRecord[] => {
    if (facts.gapOf(what) === undefined) return [];
    return facts.reads.filter((read) => read.what === what && read.gap).slice(0, 1);
  });
  return { reads };
};
