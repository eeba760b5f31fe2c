import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/host-failure.ts';
import { at, node } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const id = 'i-0123456789abcdef0';
const status = (system: string, instance: string, events: any[] = []) => ({
  call: 'ec2.describeInstanceStatus',
  answer: {
    InstanceStatuses: [
      {
        InstanceId: id,
        InstanceState: { Name: 'running' },
        SystemStatus: {
          Status: system,
          Details: [
            { Name: 'reachability', Status: system === 'ok' ? 'passed' : 'failed', ImpairedSince: at('08:11') },
          ],
        },
        InstanceStatus: { Status: instance },
        Events: events,
      },
    ],
  },
});
const silent = node('n1', 'Unknown', { id });

test('a failed system check, a degraded host, a bad accelerator, Azure’s scheduled maintenance', () => {
  expect(findingsOf(rule, { subject, objects: [silent], cloud: [status('impaired', 'impaired')] })[0]).toMatchObject({
    owner: 'cloud',
    boundary: 'node',
    strength: 'direct',
  });
  expect(
    findingsOf(rule, {
      subject,
      objects: [silent],
      cloud: [
        status('ok', 'ok', [
          {
            Code: 'instance-retirement',
            Description: 'The instance is running on degraded hardware',
            NotBefore: at('09:00'),
          },
        ]),
      ],
    })[0],
  ).toMatchObject({ owner: 'cloud' });
  const gpu = node('n1', 'False', {
    conditions: [condition('AcceleratedHardwareReady', 'False', 'NvidiaXID79Error', 'GPU has fallen off the bus')],
  });
  expect(findingsOf(rule, { subject, objects: [gpu] })[0]?.cause.en).toContain('NvidiaXID79Error');
  const azure = node('n1', 'Unknown', { conditions: [condition('FreezeScheduled', 'True', 'FreezeScheduled')] });
  expect(findingsOf(rule, { provider: 'aks', subject, objects: [azure] })[0]).toMatchObject({ owner: 'cloud' });
});

test('a CloudWatch system check that fails until now', () => {
  const series = (values: number[]) => ({
    namespace: 'AWS/EC2',
    metric: 'StatusCheckFailed_System',
    dimensions: { InstanceId: id },
    stat: 'Maximum',
    periodSeconds: 60,
    points: values.map((value, index): [string, number] => [at(`08:2${index}`), value]),
  });
  expect(findingsOf(rule, { subject, objects: [silent], cloudWatch: [series([0, 1, 1])] })).toHaveLength(1);
  expectSilent(rule, { subject, objects: [silent], cloudWatch: [series([1, 0, 0])] });
});

test('stays silent when only the guest fails, or the event is done or still to come on a healthy node', () => {
  expectSilent(rule, { subject, objects: [silent], cloud: [status('ok', 'impaired')] });
  const retire = (Description: string) =>
    status('ok', 'ok', [{ Code: 'instance-retirement', Description, NotBefore: '2026-12-01T00:00:00Z' }]);
  expectSilent(rule, { subject, objects: [node('n1', 'True', { id })], cloud: [retire('degraded hardware')] });
  expectSilent(rule, { subject, objects: [silent], cloud: [retire('[Completed] degraded hardware')] });
  expectSilent(rule, {
    subject,
    objects: [silent, event(silent, 'NodeNotReady', 'Node n1 status is now: NodeNotReady')],
  });
});

test('a vendor’s system event that restarted the machine, which is back by now', () => {
  const back = node('n1');
  const restarted = event(back, 'SystemFailure.Reboot', 'ECS instance event: SystemFailure.Reboot, status: Executing');
  const boot = event(back, 'Rebooted', 'Node n1 has been rebooted, boot id: 1');
  expect(findingsOf(rule, { provider: 'ack', subject, objects: [back, restarted, boot] })[0]).toMatchObject({
    owner: 'cloud',
    strength: 'direct',
  });
  expectSilent(rule, { provider: 'ack', subject, objects: [back, boot] });
});

test('hardware of an own data centre is the platform’s; a rented machine under an own cluster is the vendor’s', () => {
  const conditions = [condition('CperHardwareErrorFatal', 'True', 'CperHardwareErrorFatal', '[Hardware Error]')];
  const own = node('n1', 'False', { conditions });
  expect(findingsOf(rule, { provider: 'self', subject, objects: [own] })[0]).toMatchObject({ owner: 'platform' });
  const rented = node('n1', 'False', { conditions, id });
  expect(findingsOf(rule, { provider: 'self', subject, objects: [rented] })[0]).toMatchObject({ owner: 'cloud' });
});
