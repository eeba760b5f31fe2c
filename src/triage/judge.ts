import type { Facts } from '../domain/facts.ts';
import type { Finding } from '../domain/finding.ts';
import { ClusterFacts } from '../facts/cluster.ts';
import { type Scope, scopeOf } from '../facts/scope.ts';
import type { FindingDraft, Rule } from './rule.ts';

export interface Judgement {
  facts: ClusterFacts;
  scope: Scope;
  findings: Finding[];
  /** Ids of rules that ran and said nothing. */
  silent: string[];
  /** Rules that broke on these facts: a bug of the rule, which costs its own findings and not the verdict. */
  broken: { rule: string; message: string }[];
}

/** Runs every rule over the union of the facts. Pure: the order of rules and objects changes nothing. */
export const judge = (rules: Rule[], raw: Facts): Judgement => {
  const facts = new ClusterFacts(raw);
  const scope = scopeOf(facts);
  const findings: Finding[] = [];
  const silent: string[] = [];
  const broken: Judgement['broken'] = [];
  for (const rule of rules) {
    const drafts = attempt(rule, facts, scope, broken);
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
  return { facts, scope, findings, silent, broken };
};

const attempt = (rule: Rule, facts: ClusterFacts, scope: Scope, broken: Judgement['broken']): FindingDraft[] => {
  try {
    return rule.judge(facts, scope);
  } catch (error) {
    broken.push({ rule: rule.id, message: (error as Error).message });
    return [];
  }
};
