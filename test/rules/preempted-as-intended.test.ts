import { expect, test } from 'vitest';
import rule from '../../src/rules/app/preempted-as-intended.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const app = deployment('preview', { replicas: 1 });
const taker = podOf('checkout', 'a', { spec: { nodeName: 'n1', priority: 1000, containers: [] } });
taker.metadata.uid = 'f68d773c-10e4-497b-a0fe-64f8e4e46c4c';
const victim = podOf('preview', 'old');
const pending = (priority = -10) => {
  const pod = podOf('preview', 'new', {
    age: 5,
    ready: false,
    spec: { nodeName: undefined, priority, containers: [] },
  });
  pod.status = { phase: 'Pending', conditions: [] };
  return pod;
};
const preempted = event(victim, 'Preempted', `Preempted by pod ${taker.metadata.uid} on node n1`, {
  at: minutesAgo(6),
});
const act = (minutes = 5) =>
  event(pending(), 'TriggeredScaleUp', 'pod triggered scale-up: [{main 4->6 (max: 20)}]', {
    at: minutesAgo(minutes),
    source: 'cluster-autoscaler',
  });
const subject = { kind: 'Deployment', name: 'preview', namespace: 'shop' };

test('lower priority gave way and nodes are coming', () => {
  expect(findingsOf(rule, { subject, objects: [...app, taker, pending(), preempted, act()] })[0]).toMatchObject({
    state: 'expected',
    boundary: 'scheduling',
  });
});

test('silent without a scale-up, with an old one, or where the taker does not outrank', () => {
  expectSilent(rule, { subject, objects: [...app, taker, pending(), preempted] });
  expectSilent(rule, { subject, objects: [...app, taker, pending(), preempted, act(40)] });
  expectSilent(rule, { subject, objects: [...app, taker, pending(5000), preempted, act()] });
  expectSilent(rule, { subject, objects: [...app, taker, pending(), act()] });
});
