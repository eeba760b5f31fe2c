import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/control-plane-component-silent.ts';
import { at, lease, log, node, pod } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const waiting = pod('web-1', undefined, { status: { phase: 'Pending', conditions: [] } });
const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const stale = lease('kube-scheduler', at('08:05'), 'kube-system');
const nodeLease = lease('n1', at('08:30'));

test('a managed scheduler that stopped renewing its lease is the vendor’s', () => {
  const [finding] = findingsOf(rule, { subject, objects: [waiting, stale, nodeLease, node('n1')] });
  expect(finding).toMatchObject({
    owner: 'cloud',
    boundary: 'control-plane',
    strength: 'direct',
    mechanism: 'controller-down',
  });
});

test('a self-managed controller manager that crashes is the platform’s, with its last words', () => {
  const deployment = object('Deployment', 'web', {
    namespace: 'shop',
    spec: { replicas: 10 },
    status: { observedGeneration: 3, replicas: 4 },
  });
  deployment.metadata.generation = 4;
  const manager = pod('kube-controller-manager-cp-1', 'cp-1', {
    namespace: 'kube-system',
    ready: 'False',
    status: {
      phase: 'Running',
      conditions: [condition('Ready', 'False')],
      containerStatuses: [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
    },
  });
  const [finding] = findingsOf(rule, {
    provider: 'self',
    subject: { kind: 'Deployment', name: 'web', namespace: 'shop' },
    objects: [deployment, manager, lease('kube-controller-manager', at('07:56'), 'kube-system'), nodeLease],
    logs: [
      log(
        'kube-controller-manager-cp-1',
        'I1120 08:26:01 1 serving\nE1120 08:26:02 1 run.go:72] "command failed" err="open /etc/kubernetes/pki/ca.key: permission denied"',
      ),
    ],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(finding?.cause.en).toContain('permission denied');
});

test('stays silent when every lease is stale: then writes fail, not one component', () => {
  expectSilent(rule, { subject, objects: [waiting, stale, lease('n1', at('08:05')), node('n1')] });
});

test('stays silent while the lease is fresh', () => {
  expectSilent(rule, { subject, objects: [waiting, lease('kube-scheduler', at('08:30'), 'kube-system'), nodeLease] });
});
