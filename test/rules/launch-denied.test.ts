import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-denied.ts';
import { findingsOf } from './harness.ts';
import { expectOnly, refusedBy } from './launch-situations.ts';
import { pool, subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['denied'], 'platform');
});

test('says who denies', () => {
  for (const [text, who] of [
    ['with an explicit deny in a service control policy', 'organisation policy'],
    ['because no permissions boundary allows the ec2:RunInstances action', 'permissions boundary'],
    ['RequestDisallowedByPolicy: Resource was disallowed by policy', 'Azure policy'],
  ] as const)
    expect(findingsOf(rule, refusedBy('Unauthorized', `not authorized ${text}`))[0]?.cause.en).toContain(who);
});

test('EC2 ends machines while they start: the key of their disk refuses', () => {
  const pod = waiting('web-1', { message: '0/2 nodes are available: 2 Insufficient cpu.' });
  const ended = (code: string) => ({
    call: 'ec2.describeInstances',
    answer: {
      Reservations: [
        {
          Instances: [
            {
              InstanceId: 'i-0a',
              LaunchTime: minutesAgo(9),
              StateReason: { Code: code, Message: `${code}: error on launch` },
              Tags: [
                { Key: 'karpenter.sh/nodepool', Value: 'default' },
                { Key: 'karpenter.sh/nodeclaim', Value: 'default-abcde' },
              ],
            },
          ],
        },
      ],
    },
  });
  const judged = (code: string) =>
    findingsOf(rule, { subject: subjectOf(pod), objects: [pod, pool('default')], cloud: [ended(code)] });
  expect(judged('Client.InternalError')[0]).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(judged('Client.UserInitiatedShutdown')).toEqual([]);
  expect(judged('Server.InternalError')).toEqual([]);
  expect(judged('Server.SpotInstanceTermination')).toEqual([]);
});

test('EC2 no longer answers for such machines: Karpenter’s log and the trail together tell', () => {
  const pod = waiting('web-1', { message: '0/2 nodes are available: 2 Insufficient cpu.' });
  const gone = {
    namespace: 'kube-system',
    pod: 'karpenter-1',
    container: 'controller',
    previous: false,
    text: JSON.stringify({
      level: 'INFO',
      time: minutesAgo(9),
      message: 'garbage collecting nodeclaim with no cloudprovider representation',
      NodeClaim: { name: 'default-abcde' },
    }),
  };
  const trail = (errorCode: string | undefined) => ({
    call: 'cloudtrail.lookupEvents',
    answer: {
      Events: [
        {
          EventName: 'CreateGrant',
          EventTime: minutesAgo(10),
          CloudTrailEvent: JSON.stringify({
            eventSource: 'kms.amazonaws.com',
            errorCode,
            errorMessage: 'not authorized to use the key',
          }),
        },
      ],
    },
  });
  const judged = (errorCode: string | undefined, logs = [gone]) =>
    findingsOf(rule, { subject: subjectOf(pod), objects: [pod, pool('default')], logs, cloud: [trail(errorCode)] });
  expect(judged('AccessDenied')[0]).toMatchObject({ owner: 'platform' });
  expect(
    judged('AccessDenied')[0]!
      .evidence.map(({ text }) => text)
      .join(),
  ).toContain('CreateGrant AccessDenied');
  expect(judged(undefined)).toEqual([]);
  expect(judged('AccessDenied', [])).toEqual([]);
});
