import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/managed-service-issue.ts';
import { expectSilent, findingsOf, type Situation } from './harness.ts';
import { deployment, logOf, minutesAgo, node, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = deployment('web', { age: 60 * 24 * 3 });
const pod = podOf('web', 'a');
const health = (service: string, rest: Record<string, unknown> = {}) => ({
  call: 'health.describeEvents',
  answer: {
    events: [
      {
        service,
        eventTypeCode: `AWS_${service}_OPERATIONAL_ISSUE`,
        eventTypeCategory: 'issue',
        statusCode: 'open',
        startTime: minutesAgo(30),
        ...rest,
      },
    ],
  },
});
const database = (zone: string) => ({
  call: 'rds.describeDBInstances',
  answer: { DBInstances: [{ DBInstanceIdentifier: 'orders', AvailabilityZone: zone }] },
});
const at = minutesAgo(20);
const timeout = `${at} ERROR dial tcp 10.8.0.4:5432: connection timed out host=orders.c1x.us-west-2.rds.amazonaws.com`;
const situation = (line: string, cloud: Situation['cloud']): Situation => ({
  subject,
  objects: [...app, pod, node('node-1')],
  logs: [logOf(pod, line)],
  cloud,
});

test('an open event on the service that the log cannot reach', () => {
  for (const [line, service] of [
    [timeout, 'RDS'],
    [`${at} SQS request failed: https://sqs.us-west-2.amazonaws.com 503 ServiceUnavailable`, 'SQS'],
    [`${at} redis: i/o timeout sess.abc.0001.usw2.cache.amazonaws.com:6379`, 'ELASTICACHE'],
    [`${at} UnknownHostException: dynamodb.us-west-2.amazonaws.com: Name or service not known`, 'DYNAMODB'],
    [`${at} lookup sts.us-west-2.amazonaws.com: no such host`, 'STS'],
    [`${at} PutObject s3.us-west-2.amazonaws.com: status 503 SlowDown`, 'S3'],
    [`${at} cognito-idp.us-west-2.amazonaws.com: i/o timeout`, 'COGNITO'],
  ] as const)
    expect(findingsOf(rule, situation(line, [health(service)]))[0]).toMatchObject({
      owner: 'cloud',
      boundary: null,
      strength: 'derived',
    });
  const here = [health('RDS', { availabilityZone: 'us-west-2b' }), database('us-west-2b')];
  expect(findingsOf(rule, situation(timeout, here))[0]?.strength).toBe('direct');
});

test('silent for another zone, service or time, a closed event, and mistakes of the caller', () => {
  expectSilent(rule, situation(timeout, [health('RDS', { availabilityZone: 'us-west-2a' }), database('us-west-2b')]));
  expectSilent(rule, situation(timeout, [health('SQS')]));
  expectSilent(rule, situation(timeout, [health('RDS', { startTime: minutesAgo(1) })]));
  expectSilent(rule, situation(timeout, [health('RDS', { statusCode: 'closed' })]));
  expectSilent(
    rule,
    situation(`${at} ERROR password authentication failed, not connected: orders.c1x.us-west-2.rds.amazonaws.com`, [
      health('RDS'),
    ]),
  );
});

test('a regional endpoint that itself answers with a fault, of any service', () => {
  for (const [line, service] of [
    [`${at} PutItem dynamodb.us-west-2.amazonaws.com: InternalServerError`, 'DYNAMODB'],
    [
      `${at} url=https://aps-workspaces.us-west-2.amazonaws.com/api/v1/remote_write err="server returned HTTP status 503 Service Unavailable"`,
      'APS',
    ],
    [`${at} POST https://bedrock-runtime.eu-central-1.amazonaws.com/model: status code: 500`, 'BEDROCK'],
    [`${at} GET https://api.ecr.us-gov-west-1.amazonaws.com/: HTTP 502`, 'ECR'],
  ] as const) {
    expect(findingsOf(rule, situation(line, [health(service)]))[0], line).toMatchObject({
      owner: 'cloud',
      strength: 'direct',
    });
    expectSilent(rule, situation(line, [health('EC2')]));
  }
  const elsewhere = `${at} https://aps-workspaces.us-west-2.amazonaws.com: HTTP status 503`;
  expect(findingsOf(rule, situation(elsewhere, [health('APS', { region: 'us-west-2' })]))).toHaveLength(1);
  expectSilent(rule, situation(elsewhere, [health('APS', { region: 'us-east-1' })]));
  const refused = `${at} https://aps-workspaces.us-west-2.amazonaws.com: HTTP status 403 Forbidden`;
  expectSilent(rule, situation(refused, [health('APS')]));
});
