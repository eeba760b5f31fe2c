import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/network-cut-by-change.ts';
import { at, log, node, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const nodes = [
  node('n1', 'Unknown', { since: at('08:06') }),
  node('n2', 'Unknown', { since: at('08:06'), zone: 'us-west-2b' }),
];
const trail = (name: string, time: string, record: Record<string, unknown> = {}) => ({
  call: 'cloudtrail.lookupEvents',
  answer: {
    Events: [
      {
        EventName: name,
        EventTime: time,
        Username: 'vpc-apply',
        CloudTrailEvent: JSON.stringify({
          userIdentity: { type: 'AssumedRole', arn: 'arn:aws:sts::1:assumed-role/infra/vpc-apply' },
          userAgent: 'Terraform/1.9',
          ...record,
        }),
      },
    ],
  },
});

test('routes, gateways, security groups and ACLs, by whoever of the account', () => {
  for (const name of [
    'DisassociateRouteTable',
    'DeleteNatGateway',
    'RevokeSecurityGroupIngress',
    'ReplaceNetworkAclEntry',
    'DeleteRoute',
  ]) {
    const [finding] = findingsOf(rule, { subject, objects: nodes, cloud: [trail(name, at('08:04'))] });
    expect(finding).toMatchObject({ owner: 'platform', boundary: 'network', strength: 'direct' });
    expect(finding?.cause.en).toContain('vpc-apply');
  }
});

test('stays silent on changes too early, too late, failed, made by AWS itself, or of something else', () => {
  for (const answer of [
    trail('DeleteRoute', at('06:00')),
    trail('DeleteRoute', at('08:20')),
    trail('DeleteRoute', at('08:04'), { errorCode: 'AccessDenied' }),
    trail('DeleteRoute', at('08:04'), { userIdentity: { type: 'AWSService', invokedBy: 'eks.amazonaws.com' } }),
    trail('CreateTags', at('08:04')),
  ])
    expectSilent(rule, { subject, objects: nodes, cloud: [answer] });
});

test('applications whose connections time out since, in their own words, on the ports that the change names', () => {
  const web = pod('web-1', 'n1');
  const judged = (port: number, line = 'dial tcp 10.90.12.40:5432: i/o timeout') =>
    findingsOf(rule, {
      subject: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
      objects: [node('n1'), web],
      logs: [log('web-1', `${at('08:11')} ERROR pool connect failed: ${line}`, 'shop')],
      cloud: [
        trail('RevokeSecurityGroupIngress', at('08:10'), {
          requestParameters: { ipPermissions: { items: [{ fromPort: port, toPort: port }] } },
        }),
      ],
    });
  expect(judged(5432)[0]).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(judged(443)).toEqual([]);
  expect(judged(5432, 'password authentication failed')).toEqual([]);
});
