import { expect, test } from 'vitest';
import rule from '../../src/rules/app/run-never-ends.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { logOf, minutesAgo, node } from './workloads.ts';

const cron = object('CronJob', 'sync', { namespace: 'shop', spec: { concurrencyPolicy: 'Forbid' } });
const owner = (kind: string, name: string) => [{ kind, name, uid: `uid-${kind}-${name}`, controller: true }];
const run = (name: string, start: number, end?: number) =>
  object('Job', name, {
    namespace: 'shop',
    ownerReferences: owner('CronJob', 'sync'),
    creationTimestamp: minutesAgo(start),
    status: {
      startTime: minutesAgo(start),
      ...(end === undefined
        ? { active: 1 }
        : { completionTime: minutesAgo(end), conditions: [condition('Complete', 'True')] }),
    },
  });
const pod = object('Pod', 'sync-2-a', {
  namespace: 'shop',
  ownerReferences: owner('Job', 'sync-2'),
  spec: { nodeName: 'node-1', containers: [{ name: 'run' }] },
  status: {
    phase: 'Running',
    conditions: [condition('Ready', 'True')],
    containerStatuses: [{ name: 'run', ready: true, restartCount: 0, state: { running: {} } }],
  },
});
const subject = { kind: 'CronJob', name: 'sync', namespace: 'shop' };
const skipped = event(
  cron,
  'JobAlreadyActive',
  'Not starting job because prior execution is running and concurrency policy is Forbid',
);

test('a run that waits for a lock keeps every later one from starting', () => {
  const objects = [cron, run('sync-2', 600), pod, node('node-1'), skipped];
  const logs = [logOf(pod, 'INFO waiting for lock holder', { container: 'run' })];
  expect(findingsOf(rule, { subject, objects, logs })[0]).toMatchObject({ owner: 'app', strength: 'direct' });
  expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({ owner: 'app', strength: 'derived' });
});

test('far longer than its forerunners counts, as long as ever does not', () => {
  const before = run('sync-1', 2000, 1980);
  expect(findingsOf(rule, { subject, objects: [cron, before, run('sync-2', 300), pod, node('node-1')] })).toHaveLength(
    1,
  );
  expectSilent(rule, { subject, objects: [cron, before, run('sync-2', 25), pod, node('node-1')] });
});

test('silent where the pod does not run steadily', () => {
  const waiting = { ...pod, status: { phase: 'Pending' } };
  expectSilent(rule, { subject, objects: [cron, run('sync-2', 600), waiting, node('node-1'), skipped] });
});
