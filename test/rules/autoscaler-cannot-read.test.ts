import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/autoscaler-cannot-read.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pending = waiting('web-1');
const subject = subjectOf(pending);
const deployment = object('Deployment', 'karpenter', { namespace: 'kube-system' });
const set = object('ReplicaSet', 'karpenter-1', {
  namespace: 'kube-system',
  ownerReferences: [{ kind: 'Deployment', name: 'karpenter', uid: 'uid-Deployment-karpenter', controller: true }],
});
const pod = object('Pod', 'karpenter-1-x', {
  namespace: 'kube-system',
  ownerReferences: [{ kind: 'ReplicaSet', name: 'karpenter-1', uid: 'uid-ReplicaSet-karpenter-1', controller: true }],
  status: { phase: 'Running' },
});
const said = (message: string, ...minutes: number[]) => [
  {
    namespace: 'kube-system',
    pod: 'karpenter-1-x',
    container: 'controller',
    text: minutes.map((age) => `${minutesAgo(age)} ERROR Reconciler error: ${message}`).join('\n'),
  } as any,
];
const objects = [pending, deployment, set, pod];

test('a conversion webhook without service, a missing kind and missing rights', () => {
  for (const message of [
    'conversion webhook for karpenter.sh/v1beta1, Kind=NodePool failed: service "karpenter" not found',
    'no matches for kind "NodePool" in version "karpenter.sh/v1"',
    'nodepools.karpenter.sh is forbidden: User "x" cannot list resource "nodepools" in API group "karpenter.sh"',
  ])
    expect(findingsOf(rule, { subject, objects, logs: said(message, 30, 2) })[0]).toMatchObject({
      owner: 'platform',
      mechanism: 'controller-down',
    });
});

test('silent for an error that did not come again, an old one, and another', () => {
  const message = 'conversion webhook for karpenter.sh/v1beta1, Kind=NodePool failed: EOF';
  expectSilent(rule, { subject, objects, logs: said(message, 5) });
  expectSilent(rule, { subject, objects, logs: said(message, 300, 200) });
  expectSilent(rule, { subject, objects, logs: said('UnauthorizedOperation: ec2:CreateFleet', 30, 2) });
});
