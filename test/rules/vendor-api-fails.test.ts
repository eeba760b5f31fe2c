import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/vendor-api-fails.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const own = podOf('web', 'a', { ready: false });
const other = podOf('feed', 'a', { namespace: 'news' });
const third = podOf('jobs', 'a', { namespace: 'batch' });
const objects = [
  ...deployment('web'),
  ...deployment('feed', { namespace: 'news' }),
  ...deployment('jobs', { namespace: 'batch' }),
  own,
  other,
  third,
];

test.each([
  ['gke', 'ERROR put object: googleapi: Error 503: Visibility check was unavailable. Please retry'],
  ['eks', 'ERROR KmsException: internal failure (Service: Kms, Status Code: 500, Request ID: 1)'],
  ['aks', 'ERROR GET https://vault.azure.net/secrets: 503 Service Unavailable'],
  ['ack', 'ERROR POST https://oss-cn-hangzhou.aliyuncs.com/ InternalError'],
] as const)('two namespaces answered with server errors: the vendor (%s)', (provider, words) => {
  const [finding] = findingsOf(rule, { provider, subject, objects, logs: [logOf(own, words), logOf(other, words)] });
  expect(finding).toMatchObject({ owner: 'cloud', strength: 'derived' });
});

test('pulls count as witnesses, and three namespaces leave no doubt', () => {
  const words = 'googleapi: Error 503: backendError';
  const pull = event(third, 'Failed', 'Failed to pull image: https://us-docker.pkg.dev/v2/: 503 Service Unavailable');
  expect(
    findingsOf(rule, {
      provider: 'gke',
      subject,
      objects: [...objects, pull],
      logs: [logOf(own, words), logOf(other, words)],
    }),
  ).toMatchObject([{ strength: 'direct' }]);
});

test('stays silent for one namespace, refused credentials and the caller’s own rate', () => {
  expectSilent(rule, { subject, objects, logs: [logOf(own, 'googleapi: Error 503: backendError')] });
  for (const words of [
    'googleapi: Error 403: Permission denied',
    'https://s3.us-west-2.amazonaws.com/ 503 SlowDown: reduce your request rate',
  ])
    expectSilent(rule, { subject, objects, logs: [logOf(own, words), logOf(other, words)] });
});

test('an open event on the service that the lines name makes one namespace enough; of another service it does not', () => {
  const health = (service: string, statusCode = 'open') => ({
    call: 'health.describeEvents',
    answer: {
      events: [
        {
          arn: `arn:aws:health:us-west-2::event/${service}/1`,
          service,
          eventTypeCode: `AWS_${service}_OPERATIONAL_ISSUE`,
          eventTypeCategory: 'issue',
          statusCode,
          startTime: '2026-11-20T08:00:00Z',
        },
      ],
    },
  });
  for (const [words, service] of [
    [
      'FATAL operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 503, ServiceUnavailable',
      'IAM',
    ],
    ['botocore: An error occurred (InternalError) when calling the GetItem operation (DynamoDB): retry', 'DYNAMODB'],
  ] as const) {
    const situation = { subject, objects, logs: [logOf(own, words)] };
    expect(findingsOf(rule, { ...situation, cloud: [health(service)] })).toMatchObject([
      { owner: 'cloud', strength: 'derived' },
    ]);
    expect(
      findingsOf(rule, { ...situation, logs: [logOf(own, words), logOf(other, words)], cloud: [health(service)] }),
    ).toMatchObject([{ strength: 'direct' }]);
    expectSilent(rule, { ...situation, cloud: [health('EC2')] });
    expectSilent(rule, { ...situation, cloud: [health(service, 'closed')] });
  }
});

test('pods that cannot be mounted what the vendor keeps are witnesses; an error code alone with its status is one too', () => {
  const mount = (pod: typeof own) =>
    event(
      pod,
      'FailedMount',
      'MountVolume.SetUp failed for volume "secrets": operation error Secrets Manager: GetSecretValue, https response error StatusCode: 503, api error ServiceUnavailableException',
    );
  expect(findingsOf(rule, { subject, objects: [...objects, mount(own), mount(other), mount(third)] })).toMatchObject([
    { owner: 'cloud', strength: 'direct' },
  ]);
  const refused = (pod: typeof own) =>
    event(
      pod,
      'FailedMount',
      'operation error Secrets Manager: GetSecretValue, https response error StatusCode: 400, api error AccessDeniedException',
    );
  expectSilent(rule, { subject, objects: [...objects, refused(own), refused(other), refused(third)] });
  expect(
    findingsOf(rule, {
      subject,
      objects,
      logs: [
        logOf(own, 'ERROR PutRecords: InternalFailure: unknown error. (Service: Kinesis; Status Code: 500)'),
        logOf(other, 'ERROR PutRecord stream=signals: InternalFailure status=500'),
      ],
    }),
  ).toMatchObject([{ owner: 'cloud' }]);
});
