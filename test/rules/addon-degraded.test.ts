import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/addon-degraded.ts';
import { owned, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'DaemonSet', name: 'aws-node', namespace: 'kube-system' } as const;
const set = object('DaemonSet', 'aws-node', { namespace: 'kube-system' });
const agent = pod('aws-node-x1', 'n1', { namespace: 'kube-system', ready: 'False', ...owned('DaemonSet', 'aws-node') });
const answer = (code: string, status = 'DEGRADED', addonName = 'vpc-cni') => [
  {
    call: 'eks.describeAddon',
    answer: { addon: { addonName, status, addonVersion: 'v1.20.1', health: { issues: [{ code, message: 'why' }] } } },
  },
];
const of = (code: string, status?: string) =>
  findingsOf(rule, { subject, objects: [set, agent], cloud: answer(code, status) })[0];

test.each([
  ['AccessDenied', 'config'],
  ['AddonPermissionFailure', 'config'],
  ['ConfigurationConflict', 'config'],
  ['K8sResourceNotFound', 'config'],
  ['AdmissionRequestDenied', 'admission'],
])('%s is the platform’s', (code, boundary) => {
  expect(of(code)).toMatchObject({ owner: 'platform', strength: 'direct', boundary });
  expect(of(code, 'UPDATE_FAILED')).toMatchObject({ owner: 'platform' });
});

test('an error of EKS’ own is the vendor’s, and never for certain', () => {
  expect(of('InternalFailure')).toMatchObject({ owner: 'cloud', strength: 'derived' });
});

test('stays silent on replicas that are short, on a healthy add-on, and where the incident is about something else', () => {
  expect(of('InsufficientNumberOfReplicas')).toBeUndefined();
  expect(of('AccessDenied', 'ACTIVE')).toBeUndefined();
  expectSilent(rule, { subject, objects: [set, agent], cloud: answer('AccessDenied', 'DEGRADED', 'coredns') });
  expectSilent(rule, {
    subject: { kind: 'Deployment', name: 'orders', namespace: 'shop' },
    objects: [object('Deployment', 'orders', { namespace: 'shop' }), agent],
    cloud: answer('AccessDenied'),
  });
});
