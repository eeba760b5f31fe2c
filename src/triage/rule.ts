import type { Finding } from '../domain/finding.ts';
import type { Layer } from '../domain/layer.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import type { Scope } from '../facts/scope.ts';

/** What a rule returns: a finding without the fields that have a usual value. */
export type FindingDraft = Omit<Finding, 'rule' | 'explains' | 'state' | 'chain' | 'contributing' | 'missing'> &
  Partial<Pick<Finding, 'explains' | 'state' | 'chain' | 'contributing' | 'missing'>>;

export interface RuleDefinition {
  /** One line for the generated documentation: what the rule recognises. */
  title: string;
  /** Look-alikes that the rule tells apart, for the generated documentation. */
  lookAlikes?: string[];
  /** Synchronous, pure, no clock: `facts.now` is the time. Returns nothing where it cannot tell. */
  judge(facts: ClusterFacts, scope: Scope): FindingDraft[];
}

/** A loaded rule: its id is its file's name, its layer its folder. */
export interface Rule extends RuleDefinition {
  id: string;
  layer: Layer;
}

export interface RuleSet {
  rules: Rule[];
  /** Twelve hex digits over all rule files: a stored verdict names what judged it. */
  version: string;
}

export const rule = (definition: RuleDefinition): RuleDefinition => definition;
