import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cite } from '../../src/facts/cite.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import { loadRules } from '../../src/rules/load.ts';
import { judge } from '../../src/triage/judge.ts';
import { caseFacts } from '../routing/facts.ts';
import { factsOf, object, type Situation } from '../rules/harness.ts';

const evidenceOf = (situation: Partial<Situation> = {}) =>
  cite('cloud', new ClusterFacts(factsOf({ subject: { kind: 'Cluster' }, ...situation })));
const lineOf = (situation: Partial<Situation>, ...cited: Parameters<ReturnType<typeof cite>['aws']>): string =>
  evidenceOf(situation).aws(...cited).reproduce;

describe('the AWS CLI line of an answer', () => {
  test.each([
    [
      ['ec2.describeInstanceStatus', 'i-0a6a28b4d043b2a12.SystemStatus', 'impaired'],
      'aws ec2 describe-instance-status --region us-west-2 --include-all-instances --instance-ids i-0a6a28b4d043b2a12',
    ],
    [
      ['ec2.describeRouteTables', 'rtb-0bb1cc2dd.Routes', '0.0.0.0/0 nat-01234567 blackhole'],
      'aws ec2 describe-route-tables --region us-west-2 --route-table-ids rtb-0bb1cc2dd',
    ],
    [
      ['ec2.describeSpotInstanceRequests', 'i-0a6a28b4d043b2a12 Status', 'marked-for-termination'],
      'aws ec2 describe-spot-instance-requests --region us-west-2 --filters Name=instance-id,Values=i-0a6a28b4d043b2a12',
    ],
    [
      ['health.describeEvents', 'events', 'AWS_EC2_OPERATIONAL_ISSUE open in usw2-az1'],
      'aws health describe-events --region us-east-1 --filter eventTypeCodes=AWS_EC2_OPERATIONAL_ISSUE',
    ],
    [
      ['rds.describeDBInstances', 'DBInstances[orders].AvailabilityZone', 'us-west-2a'],
      'aws rds describe-db-instances --region us-west-2 --db-instance-identifier orders',
    ],
    [
      ['cloudtrail.lookupEvents', 'Events', 'DisassociateRouteTable by vpc-apply', '', '2026-11-20T08:03:58Z'],
      'aws cloudtrail lookup-events --region us-west-2 --lookup-attributes AttributeKey=EventName,AttributeValue=DisassociateRouteTable --start-time 2026-11-20T07:53:58Z --end-time 2026-11-20T08:13:58Z',
    ],
  ] as [Parameters<ReturnType<typeof cite>['aws']>, string][])('%j', (cited, line) => {
    expect(lineOf({}, ...cited)).toBe(line);
  });

  test('takes from the answer what the field only counts', () => {
    const cloud = [
      { call: 'ec2.describeSubnets', answer: { Subnets: [{ SubnetId: 'subnet-0aa' }, { SubnetId: 'subnet-0bb' }] } },
      { call: 'iam.getRole', answer: { Role: { RoleName: "ledger'; rm -rf /" } } },
      { call: 'cloudtrail.lookupEvents', answer: { Events: [{ EventName: 'DescribeAccessEntry' }] } },
      { call: 'eks.describeCluster', answer: { cluster: { name: 'prod-1' } } },
    ];
    expect(lineOf({ cloud }, 'ec2.describeSubnets', 'Subnets[1].Tags', [])).toMatch(/ --subnet-ids subnet-0bb$/);
    expect(lineOf({ cloud }, 'eks.listAccessEntries', 'accessEntries', [])).toMatch(/ --cluster-name prod-1$/);
    expect(lineOf({ cloud }, 'cloudtrail.lookupEvents', 'Events[0]', 'ResourceNotFoundException')).toMatch(
      / AttributeKey=EventName,AttributeValue=DescribeAccessEntry$/,
    );
    expect(lineOf({ cloud }, 'iam.getRole', 'Role.AssumeRolePolicyDocument', {})).toBe(
      "aws iam get-role --role-name 'ledger'\\''; rm -rf /'",
    );
  });
});

test('a CloudWatch line has its dimensions, its window and its region', () => {
  const line = evidenceOf().cloudWatch(
    {
      namespace: 'AWS/EC2',
      metric: 'StatusCheckFailed_System',
      dimensions: { InstanceId: 'i-098c8304c47aea3bc' },
      stat: 'Maximum',
      periodSeconds: 60,
      points: [
        ['2026-11-20T08:00:00Z', 0],
        ['2026-11-20T08:12:00Z', 1],
      ],
    },
    '1',
  ).reproduce;
  expect(line).toBe(
    'aws cloudwatch get-metric-statistics --region us-west-2 --namespace AWS/EC2 --metric-name StatusCheckFailed_System --dimensions Name=InstanceId,Value=i-098c8304c47aea3bc --statistics Maximum --period 60 --start-time 2026-11-20T08:00:00Z --end-time 2026-11-20T08:13:00Z',
  );
});

test('a PromQL line survives quotes in labels; a label is named by its key', () => {
  const evidence = evidenceOf();
  const series = { name: 'up', labels: { job: 'a"b\\c' }, points: [] };
  expect(evidence.series(series, '0').reproduce).toBe('up{job="a\\"b\\\\c"}');
  const node = object('Node', 'n1', { labels: { 'topology.kubernetes.io/zone': 'us-west-2a' } });
  expect(evidence.label(node, 'topology.kubernetes.io/zone')).toMatchObject({
    field: 'label topology.kubernetes.io/zone',
    value: 'us-west-2a',
    reproduce: 'kubectl get node n1 -L topology.kubernetes.io/zone',
  });
});

/** Options without which the CLI refuses the call (`aws <service> <command> help`, "required"). */
const required: Record<string, string[]> = {
  'eks describe-cluster': ['--name'],
  'eks describe-update': ['--name', '--update-id'],
  'eks describe-nodegroup': ['--cluster-name', '--nodegroup-name'],
  'eks describe-fargate-profile': ['--cluster-name', '--fargate-profile-name'],
  'eks list-access-entries': ['--cluster-name'],
  'iam get-role': ['--role-name'],
  'cloudwatch get-metric-statistics': ['--namespace', '--metric-name', '--start-time', '--end-time', '--period'],
};

test('every line of the cases can be run as it is written', async () => {
  const { rules } = await loadRules();
  const folder = new URL('../cases', import.meta.url).pathname;
  const lines = new Set<string>();
  for (const id of readdirSync(folder)) {
    const { findings } = judge(rules, await caseFacts(id));
    for (const finding of findings) for (const piece of finding.evidence) lines.add(piece.reproduce);
  }
  const wrong = [...lines].filter((line) => {
    const [tool, service = '', command = ''] = line.split(' ');
    if (/undefined|<[a-z]|…/.test(line)) return true;
    if (tool !== 'aws') return false;
    const global = service === 'iam' || / --region \S/.test(line);
    return !global || (required[`${service} ${command}`] ?? []).some((option) => !line.includes(` ${option} `));
  });
  expect(wrong).toEqual([]);
  expect([...lines].filter((line) => line.startsWith('aws ')).length).toBeGreaterThan(20);
});
