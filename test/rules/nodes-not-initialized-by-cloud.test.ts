import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodes-not-initialized-by-cloud.ts';
import { at, log, node, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'orders-0', namespace: 'shop' } as const;
const waiting = pod('orders-0', undefined);
const tainted = (created = at('08:05'), key = 'node.cloudprovider.kubernetes.io/uninitialized') => {
  const made = node('n9', 'True', { spec: { taints: [{ key, value: 'true', effect: 'NoSchedule' }] } });
  return { ...made, metadata: { ...made.metadata, creationTimestamp: created } };
};
const manager = (ready: string) => pod('aws-cloud-controller-manager-x1', 'cp-1', { namespace: 'kube-system', ready });

test('the manager of a self-managed cluster is down or refused: the platform', () => {
  expect(
    findingsOf(rule, { provider: 'self', subject, objects: [waiting, tainted(), manager('False')] })[0],
  ).toMatchObject({ owner: 'platform', strength: 'direct', root: { kind: 'Pod' } });
  const refused = log(
    'aws-cloud-controller-manager-x1',
    'E1120 08:06:00 error initializing node n9: failed to get instance: UnauthorizedOperation',
  );
  expect(
    findingsOf(rule, { provider: 'self', subject, objects: [waiting, tainted(), manager('True')], logs: [refused] })[0],
  ).toMatchObject({ owner: 'platform', strength: 'direct' });
});

test('where the vendor runs it, its log decides between its manager and a machine’s wrong name', () => {
  for (const provider of ['eks', 'gke', 'aks', 'ack'] as const)
    expect(findingsOf(rule, { provider, subject, objects: [waiting, tainted()] })[0]).toMatchObject({
      owner: 'undetermined',
      missing: [{ layer: 'cloud' }],
    });
});

test('stays silent on a node of a moment ago and on other startup taints', () => {
  expectSilent(rule, { subject, objects: [waiting, tainted(at('08:28'))] });
  expectSilent(rule, { subject, objects: [waiting, tainted(at('08:05'), 'ebs.csi.aws.com/agent-not-ready')] });
});
