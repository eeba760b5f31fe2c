import { expect, test } from 'vitest';
import rule from '../../src/rules/app/demand-burst.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const session = (index: number, waiting: boolean, age = 3) =>
  object('Pod', `session-${index}`, {
    namespace: 'lab',
    labels: { app: 'sessions' },
    creationTimestamp: minutesAgo(age),
    spec: waiting ? {} : { nodeName: 'node-1' },
    status: {
      phase: waiting ? 'Pending' : 'Running',
      conditions: [condition('PodScheduled', waiting ? 'False' : 'True')],
    },
  });
const many = (age = 3) => Array.from({ length: 12 }, (_, index) => session(index, index < 4, age));
const scaleUp = event(many()[0]!, 'TriggeredScaleUp', 'pod triggered scale-up: [{users 4->5 (max: 12)}]', {
  type: 'Normal',
  at: minutesAgo(2),
});
const placeholder = object('Pod', 'placeholder-0', { namespace: 'lab' });
const preempted = event(placeholder, 'Preempted', 'Preempted by pod x on node node-1', { at: minutesAgo(2) });
const subject = { kind: 'Pod', name: 'session-0', namespace: 'lab' };

test('many single pods at once with the reserve spent and a scale-up under way is demand', () => {
  const [finding] = findingsOf(rule, { subject, objects: [...many(), scaleUp, preempted] });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'traffic', strength: 'derived' });
  expect(finding?.contributing[0]?.owner).toBe('platform');
});

test('stays silent without a scale-up, without a sign of demand, and when they wait too long', () => {
  expectSilent(rule, { subject, objects: [...many(), preempted] });
  expectSilent(rule, { subject, objects: [...many(), scaleUp] });
  expectSilent(rule, { subject, objects: [...many(40), scaleUp, preempted] });
});
