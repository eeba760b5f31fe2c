import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/kubelet-refuses-pods.ts';
import { at, node, owned, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'orders', namespace: 'shop' } as const;
const deployment = object('Deployment', 'orders', { namespace: 'shop', spec: { replicas: 2 } });
const refused = (name: string, reason: string, message: string, start = at('08:20')) =>
  pod(name, 'n1', {
    ...owned('Deployment', 'orders'),
    phase: 'Failed',
    ready: 'False',
    creationTimestamp: start,
    status: { reason, message: `Pod was rejected: ${message}`, startTime: start },
  });
const of = (reason: string, message: string, count = 2) =>
  findingsOf(rule, {
    subject,
    objects: [
      deployment,
      node('n1'),
      ...Array.from({ length: count }, (_, i) => refused(`orders-${i}`, reason, message)),
    ],
  })[0];

test.each([
  ['OutOfcpu', "Node didn't have enough resource: cpu, requested: 2000, used: 7100, capacity: 7910", 'capacity'],
  ['OutOfnvidia.com/gpu', "Node didn't have enough resource: nvidia.com/gpu", 'capacity'],
  ['NodeAffinity', 'Predicate NodeAffinity failed: node(s) didn’t match', 'node'],
  ['TaintToleration', 'Predicate TaintToleration failed', 'node'],
  ['TopologyAffinityError', 'Resources cannot be allocated with Topology locality', 'node'],
  ['UnexpectedAdmissionError', 'Allocate failed due to no healthy devices present', 'node'],
  ['VolumeAttachmentLimitExceeded', 'Node has reached its volume attachment limit', 'storage'],
])('%s is the node’s side', (reason, message, boundary) => {
  expect(of(reason, message)).toMatchObject({ owner: 'platform', boundary, strength: 'direct' });
});

test.each(['SysctlForbidden', 'PodOSNotSupported', 'AppArmor'])('%s is what the template asks for', (reason) => {
  expect(of(reason, 'forbidden')).toMatchObject({ owner: 'app', boundary: 'config' });
});

test('one refusal may be a race', () => {
  expect(of('OutOfmemory', 'Node didn’t have enough resource: memory', 1)).toMatchObject({ strength: 'derived' });
});

test('stays silent where the replicas are complete, long after, on a shutdown, and on an eviction', () => {
  const whole = ['a', 'b'].map((name) => pod(name, 'n2', owned('Deployment', 'orders')));
  expectSilent(rule, { subject, objects: [deployment, refused('x', 'OutOfcpu', 'cpu'), ...whole] });
  expectSilent(rule, { subject, objects: [deployment, refused('x', 'OutOfcpu', 'cpu', at('06:00'))] });
  for (const reason of ['NodeShutdown', 'Terminated', 'Evicted'])
    expectSilent(rule, { subject, objects: [deployment, refused('x', reason, 'the node is shutting down')] });
});
