import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-group-at-maximum.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const said = (message: string, reason = 'NotTriggerScaleUp') =>
  event(pod, reason, message, { source: 'cluster-autoscaler' });
const status = object('ConfigMap', 'cluster-autoscaler-status', {
  namespace: 'kube-system',
  data: {
    status:
      'time: x\nautoscalerStatus: Running\nnodeGroups:\n- name: main\n  health:\n    cloudProviderTarget: 10\n    minSize: 3\n    maxSize: 10\n',
  },
});

test('the group’s maximum, the cluster’s and a resource limit, in old and new words', () => {
  for (const message of [
    "pod didn't trigger scale-up: 1 max node group size reached",
    "pod didn't trigger scale-up: 1 max cluster cpu limit reached",
    'pod didn\'t trigger scale-up: 1 exceeded quota: "default", resources: cpu',
    'max total nodes in cluster reached',
  ])
    expect(findingsOf(rule, { subject, objects: [pod, said(message)] })[0]).toMatchObject({
      owner: 'platform',
      strength: 'derived',
    });
  expect(findingsOf(rule, { subject, objects: [pod, status, said('1 max node group size reached')] })[0]).toMatchObject(
    { strength: 'direct' },
  );
});

test('silent where a node was triggered, or the pod fits no group', () => {
  expectSilent(rule, {
    subject,
    objects: [pod, said('pod triggered scale-up: [{main 3->4 (max: 10)}]', 'TriggeredScaleUp')],
  });
  expectSilent(rule, {
    subject,
    objects: [pod, said("pod didn't trigger scale-up: 1 node(s) didn't match Pod's node affinity/selector")],
  });
});
