import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/finding.ts';
import { text } from '../../src/domain/text.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import { scopeOf } from '../../src/facts/scope.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { clearLayers } from '../../src/triage/clearance.ts';
import { condition, factsOf, object, type Situation } from '../rules/harness.ts';

const nodeOf = (name: string, ready: 'True' | 'Unknown') =>
  object('Node', name, {
    status: {
      conditions: [
        condition('Ready', ready),
        ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) =>
          condition(type, ready === 'True' ? 'False' : 'Unknown'),
        ),
      ],
    },
  });
const podOn = (node: string, ready: 'True' | 'False') =>
  object('Pod', 'web-1', {
    namespace: 'shop',
    spec: { nodeName: node },
    status: { phase: 'Running', conditions: [condition('Ready', ready)] },
  });

const situation: Situation = {
  subject: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
  objects: [podOn('n1', 'False'), nodeOf('n1', 'True'), nodeOf('n2', 'Unknown')],
  probes: [{ path: 'readyz', status: 200, body: 'ok', latencyMs: 12 }],
  read: ['events', 'nodes', 'pods', 'readyz', 'replicasets'],
};

const finding = (change: Partial<Finding>): Finding => ({
  rule: 'zone',
  mechanism: 'zone-outage',
  explains: ['node-silent'],
  state: 'fault',
  owner: 'cloud',
  boundary: 'zone',
  strength: 'direct',
  cause: text('2 silent nodes in one zone.'),
  root: { kind: 'Node', name: 'n2' },
  affects: [
    { kind: 'Node', name: 'n2' },
    { kind: 'Pod', name: 'web-1', namespace: 'shop' },
  ],
  evidence: [],
  chain: [],
  contributing: [],
  nextSteps: [],
  missing: [],
  ...change,
});

const layersOf = (findings: Finding[], change: Partial<Situation> = {}) => {
  const facts = new ClusterFacts(factsOf({ ...situation, ...change }));
  return Object.fromEntries(clearLayers(facts, scopeOf(facts), findings).map((layer) => [layer.layer, layer]));
};
const verdictOf = (findings: Finding[]) => {
  const facts = new ClusterFacts(factsOf(situation));
  return attribute({ facts, scope: scopeOf(facts), findings, silent: [], broken: [] }, 'test');
};

describe('a layer is cleared', () => {
  test('by the health of the nodes the subject runs on', () => {
    expect(layersOf([]).platform).toEqual({
      layer: 'platform',
      status: 'cleared',
      because: 'the one node is Ready; no memory, disk or PID pressure on the node',
    });
  });

  test('never against the findings: nodes that they name as silent are among those that speak', () => {
    expect(layersOf([finding({})]).platform).toEqual({
      layer: 'platform',
      status: 'unknown',
      missing: 'no rule finds a fault of its own, and 1 of 2 nodes is not Ready',
      fix: 'kubectl get pods -n kube-system -o wide',
      silent: true,
    });
  });

  test('never beside a fault of its own that the root does not explain', () => {
    const webhook = finding({ rule: 'weak', mechanism: 'webhook', owner: 'platform', strength: 'circumstantial' });
    const crash = finding({
      rule: 'crash',
      mechanism: 'crash',
      owner: 'app',
      explains: [],
      affects: [{ kind: 'Pod', name: 'web-1', namespace: 'shop' }],
      root: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
    });
    const verdict = verdictOf([crash, { ...webhook, root: crash.root, affects: crash.affects, explains: [] }]);
    expect(verdict).toMatchObject({ rule: 'crash', confidence: 'medium' });
    expect(verdict.layers.find(({ layer }) => layer === 'platform')).toMatchObject({
      status: 'unknown',
      missing: 'not excluded: 2 silent nodes in one zone.',
    });
  });

  test('never by a node that tells nothing of its pressure', () => {
    const silent = { objects: [podOn('n2', 'True'), nodeOf('n2', 'Unknown')] };
    expect(layersOf([], silent).platform).toMatchObject({ status: 'unknown' });
  });
});

test('a layer that nothing speaks for or against says why, and is no read that would change the verdict', () => {
  const verdict = verdictOf([finding({})]);
  expect(verdict.layers.find(({ layer }) => layer === 'app')).toMatchObject({
    missing: 'no rule finds a fault of its own, and 1 of 1 pod is in trouble',
    silent: true,
  });
  expect(verdict.wouldChange).toEqual([]);
  const open = verdictOf([]);
  expect(open.wouldChange).toEqual([]);
  expect(open.nextSteps.map(({ en }) => en)).toEqual([
    'Look at what the rules do not know: `kubectl get pods,events -n shop`',
  ]);
});
