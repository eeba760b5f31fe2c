import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/scale-up-in-progress.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';
import { claim, launchFailed, pool, subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pod = waiting('web-1', { age: 5 });
const subject = subjectOf(pod);
const nominated = (rest = {}) =>
  event(pod, 'Nominated', 'Pod should schedule on: nodeclaim/default-a', {
    source: 'karpenter',
    at: minutesAgo(4),
    type: 'Normal',
    ...rest,
  });
const launched = claim('default-a', 'default', { age: 4, conditions: [condition('Launched', 'True')] });

test('expected, with a deadline, for either autoscaler', () => {
  const [finding] = findingsOf(rule, { subject, objects: [pod, pool('default'), launched, nominated()] });
  expect(finding).toMatchObject({ state: 'expected', deadline: minutesAgo(-11) });
  const triggered = event(pod, 'TriggeredScaleUp', 'pod triggered scale-up: [{main 3->4 (max: 9)}]', {
    source: 'cluster-autoscaler',
    at: minutesAgo(4),
  });
  expect(findingsOf(rule, { provider: 'gke', subject, objects: [pod, triggered] })[0]).toMatchObject({
    state: 'expected',
  });
});

test('silent after repeated acts, a later refusal, a long wait, or where pods were displaced', () => {
  expectSilent(rule, { subject, objects: [pod, nominated({ count: 9 })] });
  expectSilent(rule, {
    subject,
    objects: [
      pod,
      pool('default'),
      nominated(),
      launchFailed('default-a', 'InsufficientInstanceCapacity: none', minutesAgo(2)),
    ],
  });
  const old = waiting('web-2', { age: 40 });
  expectSilent(rule, {
    subject: subjectOf(old),
    objects: [old, event(old, 'Nominated', 'Pod should schedule on: nodeclaim/a', { at: minutesAgo(4) })],
  });
  expectSilent(rule, {
    subject,
    objects: [pod, nominated(), event(waiting('placeholder-0'), 'Preempted', 'Preempted by pod x on node n1')],
  });
});
