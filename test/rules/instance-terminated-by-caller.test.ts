import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/instance-terminated-by-caller.ts';
import { at, node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const call = (name: string, user: string, text = '') => ({
  call: 'cloudtrail.lookupEvents',
  answer: {
    Events: [
      {
        EventName: name,
        EventTime: at('08:08'),
        Username: user,
        CloudTrailEvent: JSON.stringify({
          requestParameters: text,
          userIdentity: { type: 'AssumedRole', arn: `arn:aws:sts::1:assumed-role/${user}` },
        }),
      },
    ],
  },
});
const silent = node('n1', 'Unknown', { id: 'i-0a1', since: at('08:10') });

test('a person or pipeline that ends instances, surely when it names this one', () => {
  expect(
    findingsOf(rule, { subject, objects: [silent], cloud: [call('TerminateInstances', 'jo', 'i-0a1')] })[0],
  ).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(
    findingsOf(rule, { subject, objects: [silent], cloud: [call('StartInstanceRefresh', 'pipeline')] })[0],
  ).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('stays silent on Karpenter’s own calls and on nodes that are being removed', () => {
  expectSilent(rule, {
    subject,
    objects: [silent],
    cloud: [call('TerminateInstances', 'KarpenterController-prod', 'i-0a1')],
  });
  const leaving = node('n1', 'Unknown', {
    id: 'i-0a1',
    since: at('08:10'),
    spec: { taints: [{ key: 'karpenter.sh/disrupted' }] },
  });
  expectSilent(rule, { subject, objects: [leaving], cloud: [call('TerminateInstances', 'jo', 'i-0a1')] });
});
