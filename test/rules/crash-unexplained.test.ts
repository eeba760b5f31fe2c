import { expect, test } from 'vitest';
import rule from '../../src/rules/app/crash-unexplained.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { crashing, deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const down = (code: number, on = 'node-1', suffix = 'a') =>
  podOf('web', suffix, { node: on, ready: false, status: crashing(code) });

test('a crash that only the new revision has is its owner’s, without certainty', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...deployment('web', { before: {} }), down(1), podOf('web', 'old', { revision: 1 })],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'circumstantial' });
  expect(finding?.missing[0]?.fix).toContain('--previous');
});

test('one pod on one node, a kill from outside, or neighbours that crash too name nobody', () => {
  expect(findingsOf(rule, { subject, objects: [...deployment('web'), down(1)] })[0]?.owner).toBe('undetermined');
  expect(
    findingsOf(rule, { subject, objects: [...deployment('web'), down(137), down(137, 'node-2', 'b')] })[0]?.owner,
  ).toBe('undetermined');
  const neighbour = podOf('api', 'x', { ready: false, status: crashing(1) });
  expect(
    findingsOf(rule, {
      subject,
      objects: [...deployment('web'), ...deployment('api'), down(1), down(1, 'node-2', 'b'), neighbour],
    })[0]?.owner,
  ).toBe('undetermined');
});

test('stays silent for pods that run, and for those lost with their node', () => {
  expectSilent(rule, { subject, objects: [...deployment('web'), podOf('web', 'a')] });
  expectSilent(rule, {
    subject,
    objects: [
      ...deployment('web'),
      podOf('web', 'b', { ready: false, status: crashing(137, 'ContainerStatusUnknown') }),
    ],
  });
});

test('the same last words in another namespace name nobody', () => {
  const words = 'ERROR write to the bucket: permission storage.objects.create denied on resource';
  const log = (pod: ReturnType<typeof podOf>) => logOf(pod, words, { previous: true });
  const [a, b] = [down(1), down(1, 'node-2', 'b')];
  const other = podOf('jobs', 'x', { namespace: 'batch', node: 'node-3', ready: false, status: crashing(1) });
  const objects = [
    ...deployment('web', { age: 90000 }),
    ...deployment('jobs', { namespace: 'batch', age: 90000 }),
    a,
    b,
  ];
  expect(findingsOf(rule, { subject, objects, logs: [log(a), log(b)] })[0]?.owner).toBe('app');
  const [finding] = findingsOf(rule, { subject, objects: [...objects, other], logs: [log(a), log(b), log(other)] });
  expect(finding?.owner).toBe('undetermined');
  expect(finding?.cause.en).toContain('batch/jobs');
});
