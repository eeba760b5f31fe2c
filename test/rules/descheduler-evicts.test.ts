import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/descheduler-evicts.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const subject = { kind: 'StatefulSet', name: 'cache', namespace: 'shop' };
const cache = object('StatefulSet', 'cache', { namespace: 'shop' });
const evicted = (index: number, source: string, reason = 'LowNodeUtilization') =>
  event(
    object('Pod', `cache-${index}`, { namespace: 'shop' }),
    reason,
    `pod eviction from worker-0${index} node by ${source}`,
    {
      source,
      type: 'Normal',
      at: minutesAgo(10 * index + 5),
    },
  );

test('evictions again and again, whatever the strategy', () => {
  for (const reason of ['LowNodeUtilization', 'RemoveDuplicates', 'PodLifeTime', 'Descheduled']) {
    const objects = [cache, ...[1, 2, 3].map((index) => evicted(index, 'sigs.k8s.io/descheduler', reason))];
    expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({ owner: 'platform', boundary: 'scheduling' });
  }
});

test('silent for a single eviction, and for those of another', () => {
  expectSilent(rule, { subject, objects: [cache, evicted(1, 'sigs.k8s.io/descheduler')] });
  expectSilent(rule, {
    subject,
    objects: [cache, ...[1, 2, 3].map((index) => evicted(index, 'karpenter', 'Evicted'))],
  });
});
