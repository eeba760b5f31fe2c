import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/launch-shortage-absorbed.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { claim, launchFailed, node, pool, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const failed = launchFailed(
  'default-abcde',
  'InsufficientInstanceCapacity: We currently do not have sufficient m6a.xlarge capacity',
  minutesAgo(12),
);
const successor = claim('default-later', 'default', { age: 11, node: 'n1', type: 'm7a.xlarge' });

test('over: another type was made and nobody waits', () => {
  const [finding] = findingsOf(rule, {
    subject: { kind: 'Cluster' },
    objects: [pool('default'), failed, successor, node('n1')],
  });
  expect(finding).toMatchObject({ state: 'over', owner: 'undetermined' });
  expect(finding?.cause.en).toContain('m7a.xlarge');
});

test('silent while a pod still waits', () => {
  expectSilent(rule, { subject: { kind: 'Cluster' }, objects: [pool('default'), failed, successor, waiting('web-1')] });
});
