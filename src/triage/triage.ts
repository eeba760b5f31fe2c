import type { LayerFacts } from '../domain/facts.ts';
import { type Layer, layers } from '../domain/layer.ts';
import type { Verdict } from '../domain/verdict.ts';
import { attribute } from './attribute.ts';
import { type CollectionTarget, unite } from './collect/collection.ts';
import { collectLayer } from './collect/layer.ts';
import { type Judgement, judge } from './judge.ts';
import type { ClusterReaders } from './ports.ts';
import type { RuleSet } from './rule.ts';

export interface TriageResult {
  verdict: Verdict;
  judgement: Judgement;
  facts: LayerFacts[];
  apiCalls: number;
}

/** Judges facts that were collected: the pure half of a triage. */
export const decide = (
  ruleSet: RuleSet,
  target: CollectionTarget,
  batches: LayerFacts[],
  now: string,
): { verdict: Verdict; judgement: Judgement } => {
  const judgement = judge(ruleSet.rules, unite(batches, target, now));
  return { verdict: attribute(judgement, ruleSet.version), judgement };
};

/**
 * A whole triage in one process: all layers collected in parallel, then judged. `redact` sees what was read before
 * anything else does; whoever shows the verdict gives it.
 */
export const triage = async (
  ruleSet: RuleSet,
  target: CollectionTarget,
  readers: ClusterReaders,
  redact: <T>(value: T) => T = (value) => value,
): Promise<TriageResult> => {
  const facts = redact(await Promise.all(layers.map((layer: Layer) => collectLayer(layer, target, readers))));
  return {
    ...decide(ruleSet, target, facts, readers.now()),
    facts,
    apiCalls: facts.reduce((sum, batch) => sum + batch.apiCalls, 0),
  };
};
