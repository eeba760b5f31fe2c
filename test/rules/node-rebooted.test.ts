import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-rebooted.ts';
import { at, node, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const id = 'i-0aaaaaaaaaaaaaaa1';
const machine = (rest: Record<string, any> = {}) => node('n1', 'True', { id, ...rest });
const rebooted = event(machine(), 'Rebooted', 'Node n1 has been rebooted, boot id: 5f0c', { at: at('08:12') });
const ended = (name: string, app: string, finishedAt: string, ready = 'True') =>
  pod(name, 'n1', {
    ready,
    ownerReferences: [{ kind: 'StatefulSet', name: app, uid: `uid-${app}`, controller: true }],
    status: {
      containerStatuses: [
        {
          name: 'app',
          restartCount: 1,
          ready: ready === 'True',
          lastState: { terminated: { reason: 'Unknown', exitCode: 255, finishedAt } },
        },
      ],
    },
  });
const subject = { kind: 'Pod', name: 'orders-0', namespace: 'shop' } as const;
const victims = (ready?: string) => [
  ended('orders-0', 'orders', at('08:09'), ready),
  ended('mail-0', 'mail', at('08:09'), ready),
];

test('several workloads ended with the restart of their node: nobody says who restarted it', () => {
  const [finding] = findingsOf(rule, { subject, objects: [machine(), rebooted, ...victims('False')] });
  expect(finding).toMatchObject({ owner: 'undetermined', state: 'fault', strength: 'derived', boundary: 'node' });
  expect(finding!.missing[0]!.layer).toBe('cloud');
});

test('ready again: over', () => {
  expect(findingsOf(rule, { subject, objects: [machine(), rebooted, ...victims()] })[0]).toMatchObject({
    state: 'over',
  });
});

test('a restart that somebody of the account asked for, or an operator of the platform, is the platform’s', () => {
  const trail = (actor: object) => ({
    call: 'cloudtrail.lookupEvents',
    answer: {
      Events: [
        {
          EventName: 'RebootInstances',
          EventTime: at('08:08'),
          Username: 'ops',
          CloudTrailEvent: JSON.stringify({
            userIdentity: actor,
            requestParameters: { instancesSet: [{ instanceId: id }] },
          }),
        },
      ],
    },
  });
  const objects = [machine(), rebooted, ...victims('False')];
  expect(findingsOf(rule, { subject, objects, cloud: [trail({ type: 'AssumedRole' })] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  expect(
    findingsOf(rule, { subject, objects, cloud: [trail({ type: 'AWSService', invokedBy: 'ec2.amazonaws.com' })] })[0],
  ).toMatchObject({ owner: 'undetermined' });
  const kured = machine({ meta: { annotations: { 'weave.works/kured-most-recent-reboot-needed': at('08:05') } } });
  const marked = {
    ...kured,
    metadata: { ...kured.metadata, annotations: { 'weave.works/kured-reboot-in-progress': at('08:05') } },
  };
  expect(
    findingsOf(rule, { provider: 'self', subject, objects: [marked, rebooted, ...victims('False')] })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('stays silent without a reboot, long after one, and where one workload alone restarted', () => {
  expectSilent(rule, { subject, objects: [machine(), ...victims('False')] });
  expectSilent(rule, { subject, now: '2026-11-20T14:00:00Z', objects: [machine(), rebooted, ...victims('False')] });
  expectSilent(rule, {
    subject,
    objects: [machine(), rebooted, ended('orders-0', 'orders', at('08:09')), pod('mail-0', 'n1')],
  });
  expectSilent(rule, {
    subject,
    objects: [machine(), rebooted, ended('orders-0', 'orders', at('06:09')), ended('mail-0', 'mail', at('06:09'))],
  });
  expectSilent(rule, {
    subject,
    objects: [machine(), event(object('Node', 'n1'), 'Starting', 'Starting kubelet.'), ...victims('False')],
  });
});
