import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-placement-group-full.ts';
import { findingsOf } from './harness.ts';
import { expectOnly, pod, subject } from './launch-situations.ts';
import { launchFailed, nodeClass, pool } from './nodes.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['placement'], 'platform');
});

test('the placement group’s sentence wins over the shortage code', () => {
  const failed = launchFailed(
    'ingest-abcde',
    "InsufficientInstanceCapacity: You've reached the limit of instances in this spread placement group.",
  );
  const grouped = nodeClass('spread', { spec: { placementGroupSelector: { name: 'ingest' } } });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [pool('ingest', { nodeClass: 'spread' }), grouped, pod, failed],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'capacity' });
});
