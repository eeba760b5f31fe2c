import { expect, test } from 'vitest';
import rule from '../../src/rules/app/demand-outruns-headroom.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const burst = (count: number) => Array.from({ length: count }, (_, index) => waiting(`session-${index}`, { age: 3 }));
const acts = (pods: any[]) =>
  pods.map((pod) =>
    event(pod, 'TriggeredScaleUp', 'pod triggered scale-up: [{users 4->5 (max: 12)}]', {
      source: 'cluster-autoscaler',
      at: minutesAgo(2),
    }),
  );
const preempted = event(waiting('placeholder-0'), 'Preempted', 'Preempted by pod x on node n1', {
  source: 'default-scheduler',
});

test('a burst that displaced placeholders while a node comes', () => {
  const pods = burst(8);
  expect(
    findingsOf(rule, { subject: subjectOf(pods[0]!), objects: [...pods, ...acts(pods), preempted] })[0],
  ).toMatchObject({ owner: 'app', boundary: 'traffic', contributing: [{ owner: 'platform' }] });
});

test('silent for a few pods, without displacement, or where nobody acts', () => {
  const [few, many] = [burst(2), burst(8)];
  expectSilent(rule, { subject: subjectOf(few[0]!), objects: [...few, ...acts(few), preempted] });
  expectSilent(rule, { subject: subjectOf(many[0]!), objects: [...many, ...acts(many)] });
  expectSilent(rule, { subject: subjectOf(many[0]!), objects: [...many, preempted] });
});
