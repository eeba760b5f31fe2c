import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/volume-not-provisioned.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('db-0', {
  message: '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  spec: { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] },
});
const subject = subjectOf(pod);
const claim = object('PersistentVolumeClaim', 'data', {
  namespace: 'shop',
  spec: { storageClassName: 'fast' },
  status: { phase: 'Pending' },
});
const fast = object('StorageClass', 'fast', { provisioner: 'ebs.csi.aws.com' });
const of = (reason: string, message: string, ...more: any[]) => ({
  subject,
  objects: [pod, claim, event(claim, reason, message), ...more],
});

test('who acts is in the provisioner’s words and in what else exists', () => {
  const bound = object('PersistentVolumeClaim', 'old', {
    namespace: 'shop',
    spec: { storageClassName: 'fast' },
    status: { phase: 'Bound' },
  });
  const absent = 'storageclass.storage.k8s.io "fast" not found';
  expect(findingsOf(rule, of('ProvisioningFailed', absent))[0]).toMatchObject({ owner: 'app', boundary: 'config' });
  expect(findingsOf(rule, of('ProvisioningFailed', absent, bound))[0]).toMatchObject({ owner: 'platform' });
  for (const [message, owner] of [
    [
      'failed to provision volume with StorageClass "fast": rpc error: code = Internal desc = UnauthorizedOperation: not authorized to perform ec2:CreateVolume',
      'platform',
    ],
    ['rpc error: code = ResourceExhausted desc = VolumeLimitExceeded: maximum number of volumes', 'platform'],
    ['rpc error: code = Internal desc = InternalError: An internal error has occurred', 'cloud'],
    ['rpc error: code = Unknown desc = something', 'undetermined'],
  ] as const)
    expect([message, findingsOf(rule, of('ProvisioningFailed', message, fast))[0]?.owner]).toEqual([message, owner]);
});

test('no default class; a driver that is down', () => {
  expect(
    findingsOf(
      rule,
      of('FailedBinding', 'no persistent volumes available for this claim and no storage class is set'),
    )[0],
  ).toMatchObject({ owner: 'platform' });
  const driver = object('Pod', 'ebs-csi-controller-1', {
    namespace: 'kube-system',
    status: { phase: 'Running', conditions: [condition('Ready', 'False')] },
  });
  expect(
    findingsOf(rule, of('ProvisioningFailed', 'rpc error: code = DeadlineExceeded', fast, driver))[0]?.cause.en,
  ).toContain('driver is not running');
});

test('silent for a claim that waits for its first consumer', () => {
  expectSilent(rule, of('WaitForFirstConsumer', 'waiting for first consumer to be created before binding'));
});
