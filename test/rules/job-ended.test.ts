import { expect, test } from 'vitest';
import rule from '../../src/rules/app/job-ended.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const cron = object('CronJob', 'load', { namespace: 'shop', status: { lastSuccessfulTime: minutesAgo(240) } });
const owner = [{ kind: 'CronJob', name: 'load', uid: 'uid-CronJob-load', controller: true }];
const job = (name: string, conditions: any[], rest: Record<string, any> = {}) =>
  object('Job', name, {
    namespace: 'shop',
    ownerReferences: owner,
    spec: { backoffLimit: 3 },
    status: { conditions, ...rest },
  });
const failed = (minutes: number, reason = 'BackoffLimitExceeded') =>
  job('load-1', [condition('Failed', 'True', reason, '', minutesAgo(minutes))]);
const podOf = (statuses: any[], phase = 'Succeeded', node = 'node-1') =>
  object('Pod', 'load-1-x', {
    namespace: 'shop',
    ownerReferences: [{ kind: 'Job', name: 'load-1', uid: 'uid-Job-load-1', controller: true }],
    spec: { nodeName: node, containers: [{ name: 'main' }, { name: 'proxy' }] },
    status: { phase, containerStatuses: statuses },
  });
const ended = (name: string, exitCode: number, minutes = 20) => ({
  name,
  state: { terminated: { exitCode, reason: exitCode ? 'Error' : 'Completed', finishedAt: minutesAgo(minutes) } },
});
const subject = { kind: 'Job', name: 'load-1', namespace: 'shop' };

test('a failure that later runs overtook is over', () => {
  const later = job('load-2', [condition('Complete', 'True', 'CompletionsReached')], {
    completionTime: minutesAgo(240),
  });
  const [finding] = findingsOf(rule, { subject, objects: [cron, failed(4000), later] });
  expect(finding).toMatchObject({ state: 'over', owner: 'undetermined' });
  expect(finding?.evidence.map((entry) => entry.field)).toContain('status.lastSuccessfulTime');
});

test('a failure that nothing overtook is the application’s where its pod says how it ended, else open', () => {
  const objects = [{ ...cron, status: { lastSuccessfulTime: minutesAgo(5000) } }, failed(30)];
  expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({
    state: 'fault',
    owner: 'undetermined',
    missing: [{ layer: 'app' }],
  });
  const pod = podOf([ended('main', 3)], 'Failed');
  expect(findingsOf(rule, { subject, objects: [...objects, pod] })[0]).toMatchObject({ state: 'fault', owner: 'app' });
});

test('a completed Job whose side container ended with an error is expected', () => {
  const complete = job('load-1', [condition('Complete', 'True', 'CompletionsReached')], {
    completionTime: minutesAgo(10),
  });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [cron, complete, podOf([ended('main', 0), ended('proxy', 255)])],
  });
  expect(finding).toMatchObject({ state: 'expected' });
  expect(finding?.cause.en).toContain('255');
});

test('a Job that a side container keeps alive is told apart from one that works', () => {
  const running = job('load-1', []);
  const proxy = { name: 'proxy', state: { running: { startedAt: minutesAgo(60) } } };
  expect(
    findingsOf(rule, { subject, objects: [cron, running, podOf([ended('main', 0), proxy], 'Running')] })[0]?.cause.en,
  ).toContain('proxy');
  expectSilent(rule, { subject, objects: [cron, running, podOf([{ ...proxy, name: 'main' }, proxy], 'Running')] });
});

test('stays silent where the pods never ran', () => {
  const pending = podOf([], 'Pending', '');
  expectSilent(rule, { subject, objects: [failed(30, 'DeadlineExceeded'), pending] });
});
