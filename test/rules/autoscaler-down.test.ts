import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/autoscaler-down.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const karpenter = (readyReplicas: number, replicas = 2) =>
  object('Deployment', 'karpenter', { namespace: 'kube-system', spec: { replicas }, status: { readyReplicas } });
const status = (minutes: number) =>
  object('ConfigMap', 'cluster-autoscaler-status', {
    namespace: 'kube-system',
    annotations: {
      'cluster-autoscaler.kubernetes.io/last-updated': minutesAgo(minutes)
        .replace('T', ' ')
        .replace('Z', '.123456789 +0000 UTC'),
    },
    data: {},
  });

test('no replica runs, none is wanted, or the status is stale', () => {
  expect(findingsOf(rule, { subject, objects: [pod, karpenter(0)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  expect(findingsOf(rule, { subject, objects: [pod, karpenter(0, 0)] })[0]?.cause.en).toContain('scaled to 0');
  expect(findingsOf(rule, { subject, objects: [pod, status(40)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('silent where it runs, wrote a minute ago, or acted lately', () => {
  expectSilent(rule, { subject, objects: [pod, karpenter(1)] });
  expectSilent(rule, { subject, objects: [pod, status(1)] });
  expectSilent(rule, {
    subject,
    objects: [
      pod,
      karpenter(0),
      event(pod, 'Nominated', 'Pod should schedule on: nodeclaim/a', { source: 'karpenter', at: minutesAgo(1) }),
    ],
  });
});
