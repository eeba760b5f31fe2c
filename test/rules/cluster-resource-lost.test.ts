import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/cluster-resource-lost.ts';
import { at, pod, probe } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const cluster = { kind: 'Cluster' };
const health = (code: string, resource = 'subnet-0d4e') => ({
  call: 'eks.describeCluster',
  answer: { cluster: { health: { issues: [{ code, message: 'not usable', resourceIds: [resource] }] } } },
});
const failedUpdate = (errorCode: string) => ({
  call: 'eks.describeUpdate',
  answer: {
    update: {
      status: 'Failed',
      createdAt: at('07:30'),
      errors: [{ errorCode, errorMessage: 'gone', resourceIds: ['subnet-0d4e'] }],
    },
  },
});
const trail = (name: string, id: string) => ({
  call: 'cloudtrail.lookupEvents',
  answer: {
    Events: [
      {
        EventName: name,
        EventTime: at('08:00'),
        Username: 'cleanup',
        CloudTrailEvent: JSON.stringify({ requestParameters: { id } }),
      },
    ],
  },
});
const keyGone = probe(500, '[+]etcd ok\n[-]kms-provider-0 failed: reason withheld\nreadyz check failed');

test('an update that fails on something of the customer’s, and who removed it', () => {
  const [finding] = findingsOf(rule, {
    subject: cluster,
    cloud: [failedUpdate('SubnetNotFound'), trail('DeleteSubnet', 'subnet-0d4e')],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'network', strength: 'direct' });
  expect(finding?.cause.en).toContain('cleanup called DeleteSubnet');
  for (const code of ['Ec2SecurityGroupNotFound', 'IamRoleNotFound', 'InsufficientFreeAddresses', 'KmsKeyDisabled'])
    expect(findingsOf(rule, { subject: cluster, cloud: [health(code)] })[0]).toMatchObject({ owner: 'platform' });
});

test('secrets that cannot be decrypted, on any provider', () => {
  const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
  const web = pod('web-1', 'n1', { ready: 'False' });
  expect(
    findingsOf(rule, {
      subject,
      objects: [web, event(web, 'FailedMount', 'unable to transform key "/registry/secrets/x": failed to decrypt DEK')],
      probes: [keyGone],
      cloud: [health('KmsKeyDisabled', 'arn:aws:kms:eu:1:key/7d2f'), trail('DisableKey', '7d2f')],
    })[0],
  ).toMatchObject({ owner: 'platform', boundary: 'control-plane', strength: 'direct' });
  expect(findingsOf(rule, { provider: 'aks', subject, objects: [web], probes: [keyGone] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('stays silent on the vendor’s own codes, on other checks, and on an issue that lingers beside a pod’s trouble', () => {
  expectSilent(rule, { subject: cluster, cloud: [health('InternalFailure')] });
  expectSilent(rule, { subject: cluster, probes: [probe(500, '[-]etcd failed: reason withheld')] });
  expectSilent(rule, {
    subject: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
    objects: [pod('web-1', 'n1')],
    cloud: [health('Ec2SubnetNotFound')],
  });
});
