import type { LayerFacts } from '../domain/facts.ts';
import type { Finding } from '../domain/finding.ts';
import type { Reasoning, Role, Spoken } from '../domain/reasoning.ts';
import type { Verdict } from '../domain/verdict.ts';
import { count } from '../domain/wording.ts';
import type { Scope } from '../facts/scope.ts';
import { type Weighed, weigh } from './causation.ts';
import { gapsOf, skippedOf } from './collect/gaps.ts';
import { doubtsOf } from './confidence.ts';
import type { Judgement } from './judge.ts';
import type { Rule, RuleSet } from './rule.ts';
import { unreadBy } from './unread.ts';

/** How the verdict on this judgement came about. Pure; runs the silent rules once more to see what they lacked. */
export const reasoningOf = (
  { rules, version }: RuleSet,
  judgement: Judgement,
  verdict: Verdict,
  batches: LayerFacts[],
): Reasoning => {
  const weighed = weigh(judgement);
  const spoke = spokenOf(rules, judgement.findings, weighed);
  return {
    ruleSet: version,
    read: batches.map(figuresOf),
    notRead: [
      ...batches.flatMap((batch) => gapsOf(batch).map((gap) => ({ layer: batch.layer, ...gap }))),
      ...skippedOf(batches),
    ],
    scope: scopeWords(judgement.scope),
    spoke,
    ...silencesOf(rules, judgement),
    broken: judgement.broken,
    doubts: weighed.root
      ? doubtsOf(weighed.root, weighed.rivals, verdict.layers).map(({ words }) => words)
      : ['no finding reaches the subject'],
    layers: verdict.layers.map((layer) => ({
      verdict: layer,
      said: spoke.filter(({ owner, role }) => owner === layer.layer && role !== 'elsewhere'),
    })),
  };
};

const figuresOf = (batch: LayerFacts): Reasoning['read'][number] => ({
  layer: batch.layer,
  objects: batch.objects.length,
  logs: batch.logs.length,
  series: batch.series.length,
  cloudAnswers: batch.cloud.length,
  reads: batch.reads.length,
  answered: batch.reads.filter((read) => !read.gap).length,
});

const scopeWords = ({ wide, workloads, subjectNodes, pools, pods, troubledPods }: Scope): string => {
  const named = [...workloads, ...subjectNodes, ...pools].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const shown = named.slice(0, 8).join(', ') + (named.length > 8 ? ` and ${named.length - 8} more` : '');
  const what = wide ? 'the whole cluster' : shown || 'the subject alone';
  return pods.length > 0 ? `${what}; ${troubledPods.length} of ${count(pods.length, 'pod')} in trouble` : what;
};

const order: Role[] = ['root', 'consequence', 'rival', 'beside', 'elsewhere'];

const spokenOf = (rules: Rule[], findings: Finding[], weighed: Weighed): Spoken[] => {
  const titles = new Map(rules.map(({ id, title }) => [id, title]));
  return findings
    .map(({ rule, owner, state, mechanism, strength, onset, cause }, index) => ({
      ...{ rule, owner, state, mechanism, strength, onset, cause },
      title: titles.get(rule) ?? rule,
      role: roleOf(findings[index]!, weighed),
    }))
    .sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role));
};

const roleOf = (finding: Finding, { root, connected, explained, rivals }: Weighed): Role => {
  if (finding === root) return 'root';
  if (!connected.includes(finding)) return 'elsewhere';
  if (explained.includes(finding)) return 'consequence';
  return rivals.includes(finding) ? 'rival' : 'beside';
};

/** Silence is told apart by what the rule had asked for: with all of it read, there is nothing of the kind. */
const silencesOf = (
  rules: Rule[],
  { silent, broken, facts, scope }: Judgement,
): Pick<Reasoning, 'couldNotTell' | 'silent'> => {
  const ran = new Set(silent);
  for (const { rule } of broken) ran.delete(rule);
  const quiet = rules
    .filter(({ id }) => ran.has(id))
    .map((rule) => ({ rule: rule.id, title: rule.title, lacked: gapsOf(unreadBy(rule, facts, scope)) }));
  const lacking = Map.groupBy(
    quiet.filter(({ lacked }) => lacked.length > 0),
    ({ lacked }) => lacked.map(({ missing }) => missing).join('; '),
  );
  return {
    couldNotTell: [...lacking]
      .map(([missing, entries]) => ({ missing, rules: entries.map(({ rule }) => rule) }))
      .sort((a, b) => b.rules.length - a.rules.length || (a.missing < b.missing ? -1 : 1)),
    silent: quiet.filter(({ lacked }) => lacked.length === 0).map(({ rule, title }) => ({ rule, title })),
  };
};
