import { describe, expect, test } from 'vitest';
import { explainReport } from '../../src/cli/explain-report.ts';
import { text } from '../../src/domain/text.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { judge } from '../../src/triage/judge.ts';
import { reasoningOf } from '../../src/triage/reasoning.ts';
import type { FindingDraft, Rule } from '../../src/triage/rule.ts';
import { condition, factsOf, object, type Situation } from '../rules/harness.ts';

const pod = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const situation: Situation = {
  subject: pod,
  objects: [
    object('Pod', 'web-1', {
      namespace: 'shop',
      spec: { nodeName: 'n1' },
      status: { phase: 'Running', conditions: [condition('Ready', 'False')] },
    }),
    object('Node', 'n1', { status: { conditions: [condition('Ready', 'True')] } }),
  ],
  probes: [{ path: 'readyz', status: 200, body: 'ok', latencyMs: 12 }],
  read: ['events', 'nodes', 'pods', 'readyz', 'replicasets'],
  denied: ['ec2.describeVolumes', 'endpointslices'],
};

const draft = (change: Partial<FindingDraft>): FindingDraft => ({
  mechanism: 'crash',
  owner: 'app',
  boundary: 'application',
  strength: 'direct',
  cause: text('it crashes.'),
  root: pod,
  affects: [pod],
  evidence: [],
  nextSteps: [],
  ...change,
});
const ruleOf = (id: string, judged: Rule['judge'], layer: Rule['layer'] = 'app'): Rule => ({
  id,
  layer,
  title: `what ${id} recognises`,
  judge: judged,
});

const reasoning = (rules: Rule[]) => {
  const judgement = judge(rules, factsOf(situation));
  const verdict = attribute(judgement, 'rules-1');
  return { verdict, ...reasoningOf({ rules, version: 'rules-1' }, judgement, verdict, []) };
};

const crash = ruleOf('crash', () => [draft({ explains: ['rollout'] })]);

describe('the reasoning', () => {
  test('says of each rule that spoke what its finding is to the root, the root first', () => {
    const { spoke, layers } = reasoning([
      ruleOf('far', () => [draft({ affects: [{ kind: 'Pod', name: 'other', namespace: 'other' }] })]),
      ruleOf('rollout', () => [draft({ mechanism: 'rollout' })]),
      ruleOf('webhook', () => [draft({ mechanism: 'webhook', owner: 'platform', strength: 'derived' })], 'platform'),
      ruleOf('host', () => [draft({ mechanism: 'host-failure', owner: 'cloud' })], 'cloud'),
      crash,
    ]);
    const roles = Object.fromEntries(spoke.map(({ rule, role }) => [rule, role]));
    expect(roles).toMatchObject({ rollout: 'consequence', far: 'elsewhere', webhook: 'beside' });
    expect([roles.host, roles.crash].sort()).toEqual(['rival', 'root']);
    expect(spoke[0]?.role).toBe('root');
    expect(layers.find(({ verdict }) => verdict.layer === 'platform')?.said.map(({ rule }) => rule)).toEqual([
      'webhook',
    ]);
  });

  test('tells silence from not being able to tell, by what the rule had asked for', () => {
    const { silent, couldNotTell } = reasoning([
      crash,
      ruleOf('quiet', (facts) => (facts.all('Node').length > 3 ? [draft({})] : [])),
      ruleOf('slices', (facts) => (facts.in('EndpointSlice', 'shop').length > 0 ? [draft({})] : [])),
      ruleOf('volumes', (facts) => (facts.cloud('ec2.describeVolumes') ? [draft({})] : [])),
    ]);
    expect(silent).toEqual([{ rule: 'quiet', title: 'what quiet recognises' }]);
    expect(couldNotTell).toEqual([
      { missing: 'cannot list ec2.describeVolumes', rules: ['volumes'] },
      { missing: 'cannot list endpointslices', rules: ['slices'] },
    ]);
  });

  test('gives every doubt, and none where the confidence is high', () => {
    expect(reasoning([crash])).toMatchObject({ verdict: { confidence: 'high' }, doubts: [] });
    expect(reasoning([ruleOf('crash', () => [draft({ strength: 'derived' })])])).toMatchObject({
      verdict: { confidence: 'medium' },
      doubts: ['the root is derived from several facts; no machine states it itself'],
    });
    expect(reasoning([]).doubts).toEqual(['no finding reaches the subject']);
  });

  test('a rule that broke is told as broken, and asked no second time', () => {
    const { broken, silent, couldNotTell } = reasoning([
      crash,
      ruleOf('bad', () => {
        throw new Error('no such field');
      }),
    ]);
    expect(broken).toEqual([{ rule: 'bad', message: 'no such field' }]);
    expect({ silent, couldNotTell }).toEqual({ silent: [], couldNotTell: [] });
  });

  test('is printed whole in the terminal', () => {
    const { verdict, ...told } = reasoning([crash, ruleOf('quiet', () => [])]);
    const report = explainReport(told, verdict);
    for (const words of ['● root        crash: it crashes.', 'Confidence: high', 'cloud: cleared', 'quiet'])
      expect(report).toContain(words);
  });
});
