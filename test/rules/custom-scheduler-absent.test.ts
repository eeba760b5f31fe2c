import { expect, test } from 'vitest';
import rule from '../../src/rules/app/custom-scheduler-absent.ts';
import { pod } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'job-1', namespace: 'shop' };
const unseen = (schedulerName: string, conditions: any[] = []) =>
  pod('job-1', undefined, { spec: { schedulerName, containers: [] }, status: { phase: 'Pending', conditions } });

test('a name nobody runs is the workload’s; a scheduler that is down is its owner’s', () => {
  expect(findingsOf(rule, { subject, objects: [unseen('volcano')] })[0]).toMatchObject({
    owner: 'app',
    boundary: 'scheduling',
  });
  const down = pod('volcano-scheduler-1', 'n1', {
    namespace: 'volcano-system',
    ready: 'False',
    labels: { team: 'platform' },
  });
  expect(findingsOf(rule, { subject, objects: [unseen('volcano'), down] })[0]).toMatchObject({ owner: 'platform' });
});

test('stays silent for the default scheduler and once somebody has looked', () => {
  expectSilent(rule, { subject, objects: [unseen('default-scheduler')] });
  expectSilent(rule, {
    subject,
    objects: [unseen('volcano', [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes')])],
  });
});
