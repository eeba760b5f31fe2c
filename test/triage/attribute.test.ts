import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/finding.ts';
import { text } from '../../src/domain/text.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import { scopeOf } from '../../src/facts/scope.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { condition, factsOf, object, type Situation } from '../rules/harness.ts';

const pod = object('Pod', 'web-1', {
  namespace: 'shop',
  spec: { nodeName: 'n1' },
  status: { phase: 'Running', conditions: [condition('Ready', 'False')] },
});
const node = object('Node', 'n1', { status: { conditions: [condition('Ready', 'True')] } });
const situation: Situation = {
  subject: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
  objects: [pod, node],
  probes: [{ path: 'readyz', status: 200, body: 'ok', latencyMs: 12 }],
  read: ['events', 'nodes', 'pods', 'readyz', 'replicasets'],
};

const finding = (change: Partial<Finding>): Finding => ({
  rule: 'some-rule',
  mechanism: 'crash',
  explains: [],
  state: 'fault',
  owner: 'app',
  boundary: 'application',
  strength: 'direct',
  cause: text(`cause of ${change.rule ?? 'some-rule'}`),
  root: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
  affects: [{ kind: 'Pod', name: 'web-1', namespace: 'shop' }],
  evidence: [],
  chain: [],
  contributing: [],
  nextSteps: [],
  missing: [],
  ...change,
});

const verdictOf = (findings: Finding[], change: Partial<Situation> = {}) => {
  const facts = new ClusterFacts(factsOf({ ...situation, ...change }));
  return attribute({ facts, scope: scopeOf(facts), findings, silent: [], broken: [] }, 'test');
};

describe('the root', () => {
  test('is the finding that explains the others, whatever their order', () => {
    const crash = finding({ rule: 'crash' });
    const host = finding({
      rule: 'host',
      mechanism: 'host-failure',
      owner: 'cloud',
      explains: ['crash'],
      affects: [{ kind: 'Node', name: 'n1' }],
    });
    expect(verdictOf([crash, host])).toMatchObject({ owner: 'cloud', rule: 'host' });
    expect(verdictOf([host, crash])).toMatchObject({ owner: 'cloud', rule: 'host' });
  });

  test('must reach the subject: a louder fault elsewhere explains nothing', () => {
    const elsewhere = finding({
      rule: 'elsewhere',
      owner: 'platform',
      explains: ['crash'],
      affects: [{ kind: 'Pod', name: 'other', namespace: 'other' }],
    });
    expect(verdictOf([elsewhere, finding({ rule: 'crash' })])).toMatchObject({ owner: 'app', rule: 'crash' });
    expect(verdictOf([elsewhere])).toMatchObject({ owner: 'undetermined', rule: null, confidence: 'low' });
  });

  test('is not later than what it explains', () => {
    const crash = finding({ rule: 'crash', onset: '2026-11-20T07:00:00Z' });
    const late = finding({
      rule: 'late',
      mechanism: 'node-silent',
      owner: 'platform',
      explains: ['crash'],
      onset: '2026-11-20T08:00:00Z',
      strength: 'derived',
    });
    expect(verdictOf([crash, late])).toMatchObject({ rule: 'crash' });
  });

  test('a guess does not explain away direct evidence', () => {
    const guess = finding({
      rule: 'guess',
      mechanism: 'zone-outage',
      owner: 'cloud',
      explains: ['crash'],
      strength: 'circumstantial',
    });
    expect(verdictOf([finding({ rule: 'crash' }), guess])).toMatchObject({ owner: 'app', rule: 'crash' });
  });

  test('with an owner beats a fallback that only names the symptom', () => {
    const fallback = finding({
      rule: 'fallback',
      mechanism: 'unknown-symptom',
      owner: 'undetermined',
      explains: ['crash'],
    });
    const crash = (strength: Finding['strength']) => finding({ rule: 'crash', strength });
    expect(verdictOf([fallback, crash('derived')])).toMatchObject({ rule: 'crash' });
    expect(verdictOf([fallback, crash('circumstantial')])).toMatchObject({ owner: 'undetermined' });
  });
});

test('the chain is worded as sentences are', () => {
  const chain = [{ object: 'Pod shop/web-1', claim: '1 of 1 pods fail since 2026-11-20T08:26:00Z' }];
  expect(verdictOf([finding({ chain })])).toMatchObject({
    chain: [{ claim: '1 of 1 pod fails since 2026-11-20 08:26:00 UTC' }],
    layers: expect.arrayContaining([
      { layer: 'app', status: 'implicated', because: 'Pod shop/web-1: 1 of 1 pod fails since 2026-11-20 08:26:00 UTC' },
    ]),
  });
});

describe('confidence', () => {
  test('is high with direct evidence and the layers above cleared', () => {
    expect(verdictOf([finding({})])).toMatchObject({ confidence: 'high' });
  });

  test('falls with derived evidence, with a rival, and with a layer above that could not be read', () => {
    expect(verdictOf([finding({ strength: 'derived' })])).toMatchObject({ confidence: 'medium' });
    const rival = finding({
      rule: 'z-rival',
      mechanism: 'dns',
      owner: 'platform',
      affects: [{ kind: 'Pod', name: 'web-1', namespace: 'shop' }],
    });
    expect(verdictOf([finding({}), rival]).confidence).toBe('medium');
    expect(
      verdictOf([finding({})], { read: ['events', 'pods', 'readyz', 'replicasets'], denied: ['nodes'] }).confidence,
    ).not.toBe('high');
  });
});

describe('layers', () => {
  test('are implicated, cleared with the fact that cleared them, or unknown with what is missing', () => {
    const verdict = verdictOf([finding({})], { read: ['events', 'pods', 'readyz', 'replicasets'], denied: ['nodes'] });
    expect(verdict.layers).toMatchObject([
      { layer: 'cloud', status: 'cleared', because: expect.stringContaining('readyz answers 200') },
      { layer: 'platform', status: 'unknown', missing: 'cannot list nodes', fix: 'grant list nodes' },
      { layer: 'app', status: 'implicated' },
    ]);
  });

  test('that nothing speaks for are unknown, with the command that shows them', () => {
    const verdict = verdictOf([finding({ owner: 'cloud', rule: 'host' })]);
    expect(verdict.layers[2]).toMatchObject({ status: 'unknown', fix: 'kubectl get pods,events -n shop' });
  });

  test('silence of a source never clears', () => {
    const verdict = verdictOf([finding({})], {
      probes: [],
      denied: ['readyz'],
      read: ['events', 'pods', 'nodes', 'replicasets'],
    });
    expect(verdict.layers[0]).toMatchObject({ status: 'unknown', missing: 'cannot list readyz' });
  });
});

test('an expected state names nobody and keeps its deadline', () => {
  const verdict = verdictOf([
    finding({
      rule: 'churn',
      state: 'expected',
      mechanism: 'node-churn',
      explains: ['crash'],
      deadline: '2026-11-20T08:45:00Z',
    }),
  ]);
  expect(verdict).toMatchObject({ state: 'expected', owner: 'undetermined', deadline: '2026-11-20T08:45:00Z' });
});

test('a broken rule is told', () => {
  const facts = new ClusterFacts(factsOf(situation));
  const verdict = attribute(
    {
      facts,
      scope: scopeOf(facts),
      findings: [finding({})],
      silent: [],
      broken: [{ rule: 'bad', message: 'x is undefined' }],
    },
    'test',
  );
  expect(verdict.cannotShow.join()).toContain('rule bad broke');
});
