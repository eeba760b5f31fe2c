import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodepool-limit-reached.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const pool = (used: string, name = 'default') =>
  object('NodePool', name, {
    apiVersion: 'karpenter.sh/v1',
    spec: { limits: { cpu: '48' } },
    status: { resources: { cpu: used } },
  });
const pod = object('Pod', 'web-1', {
  namespace: 'shop',
  status: {
    phase: 'Pending',
    conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available: 3 Insufficient cpu.')],
  },
});
const refusal = (text: string) =>
  event(pod, 'FailedScheduling', `Failed to schedule pod, ${text}`, { source: 'karpenter' });
const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };

test('fires in every wording of the limit, with usage and limit as evidence', () => {
  for (const text of [
    'all available instance types exceed limits for nodepool (NodePool=default)',
    'all available instance types exceed limits for nodepool: "default"',
    'all available instance types exceed limits for nodepool "default"',
  ]) {
    const [finding] = findingsOf(rule, { subject, objects: [pool('47'), pod, refusal(text)] });
    expect(finding).toMatchObject({
      owner: 'platform',
      root: { kind: 'NodePool', name: 'default' },
      strength: 'direct',
    });
    expect(finding?.evidence.map((entry) => entry.value)).toEqual(expect.arrayContaining(['48', '47']));
  }
});

test('stays silent when the pool is far below its limit: the message contradicts the object', () => {
  expectSilent(rule, {
    subject,
    objects: [pool('8'), pod, refusal('all available instance types exceed limits for nodepool (NodePool=default)')],
  });
});

test('stays silent for a full pool that the message does not name', () => {
  const other = 'all available instance types exceed limits for nodepool (NodePool=other)';
  expectSilent(rule, { subject, objects: [pool('48'), pool('8', 'other'), pod, refusal(other)] });
});

test('is less sure where most of the pool is held by pods that no controller owns', () => {
  const node = object('Node', 'n1', { labels: { 'karpenter.sh/nodepool': 'default' } });
  const held = (name: string, owner?: string) =>
    object('Pod', name, {
      namespace: 'shop',
      spec: { nodeName: 'n1' },
      status: { phase: 'Running' },
      ...(owner ? { ownerReferences: [{ kind: 'ReplicaSet', name: owner, controller: true }] } : {}),
    });
  const message = 'all available instance types exceed limits for nodepool (NodePool=default)';
  const strengthWith = (...pods: ReturnType<typeof held>[]) =>
    findingsOf(rule, { subject, objects: [pool('48'), node, pod, refusal(message), ...pods] })[0]?.strength;
  expect(strengthWith(held('run-1'), held('run-2'), held('web-2', 'web'))).toBe('derived');
  expect(strengthWith(held('run-1'), held('web-2', 'web'), held('web-3', 'web'))).toBe('direct');
});
