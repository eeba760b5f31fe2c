import type { Facts } from '../domain/facts.ts';
import type { Finding } from '../domain/finding.ts';
import { ClusterFacts } from '../facts/cluster.ts';
import { type Scope, scopeOf } from '../facts/scope.ts';
import type { Rule } from './rule.ts';

export interface Judgement {
  facts: ClusterFacts;
  scope: Scope;
  findings: Finding[];
  /** Ids of rules that ran and said nothing. */
  silent: string[];
}

/** Runs every rule over the union of the facts. Pure: the order of rules and objects changes nothing. */
export const judge = (rules: Rule[], raw: Facts): Judgement => {
  const facts = new ClusterFacts(raw);
  const scope = scopeOf(facts);
  const findings: Finding[] = [];
  const silent: string[] = [];
  for (const rule of rules) {
    const drafts = rule.judge(facts, scope);
    if (drafts.length === 0) silent.push(rule.id);
    for (const draft of drafts) {
      findings.push({
        explains: [],
        state: 'fault',
        chain: [],
        contributing: [],
        missing: [],
        ...draft,
        rule: rule.id,
      });
    }
  }
  return { facts, scope, findings, silent };
};
