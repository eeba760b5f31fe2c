import { expect, test } from 'vitest';
import rule from '../../src/rules/app/preempted-by-raised-priority.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const uid = '8337496b-6413-40c1-a859-a456c640c07f';
const deployment = (name: string, namespace: string) =>
  object('Deployment', name, { namespace, creationTimestamp: minutesAgo(90_000) });
const set = (name: string, namespace: string, revision: number, age: number, priorityClassName?: string) =>
  object('ReplicaSet', `${name}-${revision}`, {
    namespace,
    creationTimestamp: minutesAgo(age),
    annotations: { 'deployment.kubernetes.io/revision': `${revision}` },
    ownerReferences: [{ kind: 'Deployment', name, uid: `uid-Deployment-${name}`, controller: true }],
    spec: { template: { spec: { priorityClassName, containers: [{ name: 'main' }] } } },
  });
const pod = (name: string, namespace: string, revision: number, rest: Record<string, any>) =>
  object('Pod', `${name}-${revision}-x`, {
    namespace,
    ownerReferences: [
      { kind: 'ReplicaSet', name: `${name}-${revision}`, uid: `uid-ReplicaSet-${name}-${revision}`, controller: true },
    ],
    ...rest,
  });
const priorityClass = (name: string, value: number, age: number, globalDefault = false) =>
  object('PriorityClass', name, { value, globalDefault, creationTimestamp: minutesAgo(age) });
const subject = { kind: 'Deployment', name: 'till', namespace: 'shop' };
const waiting = pod('till', 'shop', 1, {
  status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes')] },
});
const gone = object('Pod', 'till-1-gone', { namespace: 'shop' });
const victim = [
  deployment('till', 'shop'),
  set('till', 'shop', 1, 90_000),
  waiting,
  event(gone, 'Preempted', `Preempted by pod ${uid} on node n1`, { source: 'default-scheduler', at: minutesAgo(30) }),
];
const taker = (sets: ReturnType<typeof set>[], revision: number, priorityClassName: string) => [
  deployment('tagger', 'ml'),
  ...sets,
  pod('tagger', 'ml', revision, { uid, spec: { priorityClassName, priority: 9000, nodeName: 'n1' } }),
];

test('the release that took a higher class is its team’s', () => {
  const sets = [set('tagger', 'ml', 1, 9000, 'batch'), set('tagger', 'ml', 2, 40, 'critical')];
  const objects = [...victim, ...taker(sets, 2, 'critical'), priorityClass('critical', 9000, 90_000)];
  expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({
    owner: 'app',
    strength: 'derived',
    root: { kind: 'Deployment', name: 'tagger' },
  });
});

test('a new default class is the platform’s, whoever rolls out next', () => {
  const sets = [set('tagger', 'ml', 1, 9000), set('tagger', 'ml', 2, 40)];
  const objects = [...victim, ...taker(sets, 2, 'tenant'), priorityClass('tenant', 9000, 90, true)];
  expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({
    owner: 'platform',
    root: { kind: 'PriorityClass', name: 'tenant' },
  });
});

test('silent where class and template are old, and where the preemptor is not known', () => {
  const objects = [
    ...victim,
    ...taker([set('tagger', 'ml', 1, 60_000, 'critical')], 1, 'critical'),
    priorityClass('critical', 9000, 90_000),
  ];
  expectSilent(rule, { subject, objects });
  expectSilent(rule, { subject, objects: victim });
});
