import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/resize-not-possible.ts';
import { at, node, pod } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'orders-0', namespace: 'shop' } as const;
const resized = (entry: object | undefined, rest: Record<string, any> = {}) =>
  pod('orders-0', 'n1', {
    ownerReferences: [{ kind: 'Deployment', name: 'orders', uid: 'uid-Deployment-orders', controller: true }],
    status: { conditions: [condition('Ready', 'True'), ...(entry ? [entry] : [])], ...rest },
  });
const deployment = object('Deployment', 'orders', { namespace: 'shop' });
const pending = (reason: string, message: string, since?: string) =>
  condition('PodResizePending', 'True', reason, message, since);

test('a resize that no room of the node can hold is asked too much by the team', () => {
  const entry = pending(
    'Infeasible',
    'Node didn’t have enough capacity: memory, requested: 68719476736, capacity: 33189773312',
  );
  expect(findingsOf(rule, { subject, objects: [deployment, node('n1'), resized(entry)] })[0]).toMatchObject({
    owner: 'app',
    strength: 'direct',
    boundary: 'config',
  });
  expect(
    findingsOf(rule, { subject, objects: [deployment, node('n1'), resized(undefined, { resize: 'Infeasible' })] })[0],
  ).toMatchObject({ owner: 'app' });
});

test('asked for by a VerticalPodAutoscaler of the platform: the platform', () => {
  const vpa = object('VerticalPodAutoscaler', 'orders', {
    namespace: 'shop',
    labels: { team: 'platform' },
    spec: { targetRef: { kind: 'Deployment', name: 'orders' } },
  });
  expect(
    findingsOf(rule, {
      subject,
      objects: [deployment, vpa, node('n1'), resized(pending('Infeasible', 'too large'))],
    })[0],
  ).toMatchObject({ owner: 'platform', root: { kind: 'VerticalPodAutoscaler' } });
});

test('put off for long, or failing: the node’s side', () => {
  const deferred = resized(pending('Deferred', 'Node didn’t have enough resource: cpu', at('08:00')));
  expect(findingsOf(rule, { subject, objects: [deployment, node('n1'), deferred] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
  const failing = resized(condition('PodResizeInProgress', 'True', 'Error', 'failed to update cgroup'));
  expect(findingsOf(rule, { subject, objects: [deployment, node('n1'), failing] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
});

test('stays silent on a resize that was just put off, one in progress, and none', () => {
  for (const entry of [
    pending('Deferred', 'Node didn’t have enough resource: cpu', at('08:26')),
    condition('PodResizeInProgress', 'True'),
    undefined,
  ])
    expectSilent(rule, { subject, objects: [deployment, node('n1'), resized(entry)] });
});
