import { expect, test } from 'vitest';
import rule from '../../src/rules/app/claim-missing.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const of = (message: string, namespace = 'shop') => {
  const pod = waiting('db-0', { message, namespace });
  return { subject: subjectOf(pod), objects: [pod] };
};

test('a claim that does not exist belongs to whoever owns the workload', () => {
  expect(findingsOf(rule, of('0/3 nodes are available: persistentvolumeclaim "data" not found.'))[0]).toMatchObject({
    owner: 'app',
    strength: 'direct',
  });
  expect(
    findingsOf(rule, of('0/3 nodes are available: persistentvolumeclaim "data" not found.', 'monitoring'))[0],
  ).toMatchObject({ owner: 'platform' });
});

test('a volume that is gone is the platform’s', () => {
  expect(
    findingsOf(
      rule,
      of('0/3 nodes are available: persistentvolumeclaim "data" bound to non-existent persistentvolume "pv-1".'),
    )[0],
  ).toMatchObject({ owner: 'platform', boundary: 'storage' });
});

test('silent for an unbound claim', () => {
  expectSilent(rule, of('0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.'));
});
