import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodes-withheld.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const node = (name: string, spec: Record<string, any>, rest: Record<string, any> = {}) =>
  object('Node', name, {
    spec,
    status: { allocatable: { cpu: '8', memory: '32Gi' }, conditions: [condition('Ready', 'True', 'KubeletReady')] },
    ...rest,
  });
const taint = (key: string, value = '') => ({ taints: [{ key, value, effect: 'NoSchedule' }] });

test('cordons that a drain left behind, and maintenance taints that stayed', () => {
  for (const spec of [
    { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
    taint('maintenance.example.com/firmware', '2026-11-18'),
    taint('kured', 'reboot-pending'),
    taint('ops/os-upgrade', 'running'),
  ])
    expect(findingsOf(rule, { subject, objects: [pod, node('worker-1', spec)] })[0]).toMatchObject({
      owner: 'platform',
      boundary: 'scheduling',
      strength: 'direct',
    });
});

test('silent for dedicated nodes, full ones, nodes being removed, and drains that have just begun', () => {
  expectSilent(rule, { subject, objects: [pod, node('worker-1', taint('dedicated', 'gpu'))] });
  const tenant = object('Pod', 'etl-1', { namespace: 'data', spec: { tolerations: [{ key: 'patch-lane' }] } });
  expectSilent(rule, { subject, objects: [pod, tenant, node('worker-1', taint('patch-lane'))] });
  const hungry = object('Pod', 'big-1', {
    namespace: 'data',
    spec: { nodeName: 'worker-1', containers: [{ name: 'big', resources: { requests: { cpu: '8' } } }] },
    status: { phase: 'Running' },
  });
  expectSilent(rule, { subject, objects: [pod, hungry, node('worker-1', taint('maintenance'))] });
  expectSilent(rule, { subject, objects: [pod, node('worker-1', taint('karpenter.sh/disrupted'))] });
  expectSilent(rule, {
    subject,
    objects: [
      pod,
      node('worker-1', {
        unschedulable: true,
        taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: '2026-11-20T08:25:00Z' }],
      }),
    ],
  });
});
