import { expect, test } from 'vitest';
import rule from '../../src/rules/app/spread-rule-unsatisfiable.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { node, pool, refused, subjectOf, waiting } from './nodes.ts';
import { deployment } from './workloads.ts';

const spec = {
  nodeSelector: { 'topology.kubernetes.io/zone': 'us-west-2a' },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
  ],
};
const situation = (message: string, own: Record<string, any> = spec) => {
  const objects = deployment('web', { age: 28, spec: own });
  const pod = waiting('web-1', { owner: objects.find((entry) => entry.kind === 'ReplicaSet'), spec: own, message });
  return { pod, subject: subjectOf(pod), objects: [...objects, pod, node('n1'), node('n2', { zone: 'us-west-2b' })] };
};

test('the scheduler’s and Karpenter’s words for it', () => {
  const own = situation(
    "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod topology spread constraints.",
  );
  expect(findingsOf(rule, own)[0]).toMatchObject({ owner: 'app', boundary: 'scheduling', strength: 'direct' });
  const text =
    'incompatible with nodepool "default", unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = us-west-2a: 2';
  expect(findingsOf(rule, { ...own, objects: [...own.objects, pool('default'), refused(own.pod, text)] })).toHaveLength(
    1,
  );
});

test('required anti-affinity and host ports', () => {
  const anti = {
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] },
    },
  };
  const [finding] = findingsOf(
    rule,
    situation("0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.", anti),
  );
  expect(finding?.cause.en).toContain('podAntiAffinity per kubernetes.io/hostname');
  expect(
    findingsOf(
      rule,
      situation("0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.", {}),
    ),
  ).toHaveLength(1);
});

test('silent where room decides, or the pool’s limit', () => {
  const tight = situation(
    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints.",
  );
  expectSilent(rule, tight);
  const own = situation("0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.");
  expectSilent(rule, {
    ...own,
    objects: [
      ...own.objects,
      pool('default'),
      refused(own.pod, 'all available instance types exceed limits for nodepool (NodePool=default)'),
    ],
  });
});

test('a lost node weakens it: the zone may be the cause', () => {
  const own = situation("0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.");
  expect(findingsOf(rule, { ...own, objects: [...own.objects, node('n3', { ready: 'Unknown' })] })[0]?.strength).toBe(
    'circumstantial',
  );
});
