import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-silent.ts';
import { at, lease, node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };

test('names what would tell, per provider', () => {
  const [aws] = findingsOf(rule, {
    subject,
    objects: [
      node('n1', 'Unknown', { id: 'i-0a', labels: { 'karpenter.sh/capacity-type': 'spot' } }),
      lease('n1', at('08:10')),
    ],
  });
  expect(aws).toMatchObject({ owner: 'undetermined', strength: 'circumstantial' });
  expect(aws?.missing.map((entry) => entry.fix).join()).toMatch(/DescribeInstanceStatus.*LookupEvents/);
  const [gke] = findingsOf(rule, { provider: 'gke', subject, objects: [node('n1', 'Unknown')] });
  expect(gke?.missing.map((entry) => entry.layer)).toContain('cloud');
});

test('a guest that fails its own check is not the vendor’s; a fresh lease contradicts the condition', () => {
  const cloud = [
    {
      call: 'ec2.describeInstanceStatus',
      answer: {
        InstanceStatuses: [
          { InstanceId: 'i-0a', SystemStatus: { Status: 'ok' }, InstanceStatus: { Status: 'impaired' } },
        ],
      },
    },
  ];
  expect(findingsOf(rule, { subject, objects: [node('n1', 'Unknown', { id: 'i-0a' })], cloud })[0]).toMatchObject({
    owner: 'platform',
  });
  expect(
    findingsOf(rule, { subject, objects: [node('n1', 'Unknown'), lease('n1', at('08:30'))] })[0]?.cause.en,
  ).toContain('lags');
});

test('stays silent for nodes that speak or that are not the subject’s', () => {
  expectSilent(rule, { subject, objects: [node('n1', 'False'), node('n2', 'Unknown')] });
});
