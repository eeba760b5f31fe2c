import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/cluster-dns-down.ts';
import { log, owned, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'agent-1', namespace: 'monitoring' };
const agent = pod('agent-1', 'n9', { namespace: 'monitoring' });
const complaint = log('agent-1', 'dial tcp: lookup aps.example.com: i/o timeout', 'monitoring');
const set = (name: string, created: string) =>
  object('Deployment', name, {
    namespace: 'kube-system',
    creationTimestamp: created,
    spec: { replicas: 2 },
    status: { readyReplicas: 1 },
  });
const replica = (name: string, deployment: string, nodeName: string | undefined) =>
  pod(name, nodeName, {
    namespace: 'kube-system',
    labels: { 'k8s-app': 'kube-dns' },
    ready: nodeName ? 'True' : 'False',
    ...owned('Deployment', deployment),
    status: {
      phase: nodeName ? 'Running' : 'Pending',
      conditions: nodeName
        ? [condition('Ready', 'True')]
        : [condition('PodScheduled', 'False', 'Unschedulable', '0/12 nodes are available: 2 Too many pods.')],
    },
  });
const waiting = replica('dns-b', 'coredns-extra', undefined);
const events = [
  event(waiting, 'FailedScheduling', '0/12 nodes are available: 2 Too many pods.', { source: 'default-scheduler' }),
];

test('two installations that crowd each other out; the younger one goes', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [
      agent,
      set('coredns', '2026-04-01T00:00:00Z'),
      set('coredns-extra', '2026-11-11T00:00:00Z'),
      replica('dns-a', 'coredns', 'n1'),
      waiting,
      ...events,
    ],
    logs: [complaint],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'dns', strength: 'direct' });
  expect(finding?.nextSteps[0]?.en).toContain('coredns-extra');
});

test('stays silent when nobody’s lookups fail, or the node’s resolvers are lost', () => {
  const objects = [agent, set('coredns', '2026-04-01T00:00:00Z'), replica('dns-a', 'coredns', 'n1'), waiting];
  expectSilent(rule, { subject, objects });
  expectSilent(rule, {
    subject,
    objects,
    logs: [complaint, log('dns-b', '[FATAL] plugin/loop: Loop detected for zone "."')],
  });
});
