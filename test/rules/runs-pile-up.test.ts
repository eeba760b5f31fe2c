import { expect, test } from 'vitest';
import rule from '../../src/rules/app/runs-pile-up.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pending = waiting('web-1');
const subject = subjectOf(pending);
const node = object('Node', 'n1', { status: { allocatable: { cpu: '10' } } });
const run = (index: number, minutes: number, rest: Record<string, any> = {}) =>
  object('Pod', `warm-2939700${index}-x`, {
    namespace: 'geo',
    creationTimestamp: minutesAgo(minutes),
    ownerReferences: [{ kind: 'Job', name: `warm-2939700${index}`, uid: `uid-Job-${index}`, controller: true }],
    spec: { nodeName: 'n1', containers: [{ name: 'main', resources: { requests: { cpu: '600m' } } }] },
    status: { phase: 'Running' },
    ...rest,
  });
const runs = [1, 2, 3, 4, 5, 6].map((index) => run(index, index * 30));

test('runs of one schedule hold a large part of the nodes', () => {
  expect(findingsOf(rule, { subject, objects: [pending, node, ...runs] })[0]).toMatchObject({
    owner: 'app',
    root: { kind: 'CronJob', name: 'warm', namespace: 'geo' },
    explains: expect.arrayContaining(['pool-limit']),
  });
});

test('silent for finished runs, for fresh ones, and for few', () => {
  const over = [1, 2, 3, 4, 5, 6].map((index) => run(index, index * 30, { status: { phase: 'Succeeded' } }));
  expectSilent(rule, { subject, objects: [pending, node, ...over] });
  expectSilent(rule, { subject, objects: [pending, node, ...[1, 2, 3, 4, 5, 6].map((index) => run(index, index))] });
  expectSilent(rule, { subject, objects: [pending, node, ...runs.slice(0, 2)] });
});
