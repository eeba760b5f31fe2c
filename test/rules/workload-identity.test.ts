import { expect, test } from 'vitest';
import rule from '../../src/rules/app/workload-identity.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const denied =
  'An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity';
const arn = 'arn:aws:iam::111122223333:role/web';
const tied = object('ServiceAccount', 'web', { namespace: 'shop', annotations: { 'eks.amazonaws.com/role-arn': arn } });
const plain = object('ServiceAccount', 'default', { namespace: 'shop' });
const as = (account: string | undefined, suffix = 'a', revision = 2) =>
  podOf('web', suffix, { revision, ready: revision === 1, spec: account ? { serviceAccountName: account } : {} });

test('a template that dropped its service account is the application’s, though the text speaks of the role', () => {
  const app = deployment('web', { before: { spec: { serviceAccountName: 'web' } } });
  const pod = as(undefined);
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...app, pod, as('web', 'old', 1), tied, plain],
    logs: [logOf(pod, denied)],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'config' });
  expect(finding?.evidence.some((entry) => entry.text.includes('system:serviceaccount:shop:default'))).toBe(true);
});

test('the right account under a trust policy that does not name it is the platform’s', () => {
  const pod = as('web');
  const app = deployment('web', {
    spec: { serviceAccountName: 'web' },
    before: { spec: { serviceAccountName: 'web' } },
  });
  const role = {
    call: 'iam.getRole',
    answer: {
      Role: { Arn: arn, AssumeRolePolicyDocument: { Condition: { sub: 'system:serviceaccount:shop:other' } } },
    },
  };
  expect(
    findingsOf(rule, { subject, objects: [...app, pod, tied], logs: [logOf(pod, denied)], cloud: [role] })[0],
  ).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(findingsOf(rule, { subject, objects: [...app, pod, tied], logs: [logOf(pod, denied)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'circumstantial',
  });
});

test('an account tied to nothing beside one that is, and pods of other namespaces refused alike', () => {
  const pod = as(undefined);
  expect(
    findingsOf(rule, { subject, objects: [...deployment('web'), pod, tied, plain], logs: [logOf(pod, denied)] })[0],
  ).toMatchObject({ owner: 'app', strength: 'derived' });
  const other = podOf('api', 'b', { namespace: 'billing' });
  expect(
    findingsOf(rule, {
      subject,
      objects: [...deployment('web'), pod, ...deployment('api', { namespace: 'billing' }), other],
      logs: [logOf(pod, denied), logOf(other, denied)],
    })[0],
  ).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('an accepted identity whose action is refused leaves the owner open; other denials are no identity', () => {
  const pod = as('web');
  const refused = 'User: arn:aws:sts::1:assumed-role/web/x is not authorized to perform: s3:GetObject on resource: "y"';
  expect(
    findingsOf(rule, { subject, objects: [...deployment('web'), pod], logs: [logOf(pod, refused)] })[0]?.owner,
  ).toBe('undetermined');
  expectSilent(rule, {
    subject,
    objects: [...deployment('web'), pod],
    logs: [logOf(pod, 'GET /admin 403 user not allowed')],
  });
});

test('a change of the role that the audit trail shows, and another cluster’s identity provider', () => {
  const pod = as('web');
  const app = deployment('web', { spec: { serviceAccountName: 'web' }, age: 60 * 24 * 30 });
  const trail = (name: string, user: string, role = 'web') => ({
    call: 'cloudtrail.lookupEvents',
    answer: {
      Events: [
        {
          EventName: name,
          EventTime: '2026-11-20T08:00:00Z',
          Username: user,
          CloudTrailEvent: JSON.stringify({ requestParameters: { roleName: role } }),
        },
      ],
    },
  });
  const judged = (line: string, ...cloud: { call: string; answer: any }[]) =>
    findingsOf(rule, { subject, objects: [...app, pod, tied], logs: [logOf(pod, line)], cloud })[0];
  const action = 'AccessDenied: User is not authorized to perform: s3:PutObject';
  expect(judged(denied, trail('UpdateAssumeRolePolicy', 'tf-irsa'))).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  expect(judged(action, trail('DetachRolePolicy', 'tf-irsa'))).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(judged(action, trail('DetachRolePolicy', 'shop-deployer'))).toMatchObject({ owner: 'app' });
  expect(judged(action, trail('DetachRolePolicy', 'tf-irsa', 'web-admin'))?.strength).toBe('circumstantial');
  const role = {
    call: 'iam.getRole',
    answer: {
      Role: {
        Arn: arn,
        AssumeRolePolicyDocument: 'oidc.eks.us-west-2.amazonaws.com/id/OLD system:serviceaccount:shop:web',
      },
    },
  };
  const cluster = {
    call: 'eks.describeCluster',
    answer: { cluster: { endpoint: 'https://NEW.gr7.us-west-2.eks.amazonaws.com' } },
  };
  expect(judged(denied, role, cluster)?.cause.en).toContain('OLD');
});

test('a token service that answers with a server error refuses nobody', () => {
  for (const words of [
    'operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 503, ServiceUnavailable',
    'WebIdentityErr: failed (Service: Sts, Status Code: 500, Request ID: 1)',
  ])
    expectSilent(rule, {
      subject,
      objects: [...deployment('web'), as('web'), tied],
      logs: [logOf(as('web'), words)],
    });
});
