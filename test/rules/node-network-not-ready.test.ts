import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-network-not-ready.ts';
import { node, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const message =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';

test('an agent that crashes or cannot be pulled is named with its event', () => {
  for (const name of ['aws-node-x', 'cilium-x', 'azure-cns-x', 'calico-node-x']) {
    const agent = pod(name, 'n1', {
      namespace: 'kube-system',
      ready: 'False',
      status: {
        phase: 'Running',
        conditions: [condition('Ready', 'False')],
        containerStatuses: [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      },
    });
    const [finding] = findingsOf(rule, {
      subject,
      objects: [
        node('n1', 'False', { message }),
        agent,
        event(agent, 'BackOff', 'Back-off restarting failed container'),
      ],
    });
    expect(finding).toMatchObject({ owner: 'platform', boundary: 'network', strength: 'derived' });
    expect(finding?.cause.en).toContain('CrashLoopBackOff');
  }
});

test('a missing agent is only a hint; the vendor’s monitor speaks for itself', () => {
  expect(findingsOf(rule, { subject, objects: [node('n1', 'False', { message })] })[0]).toMatchObject({
    strength: 'circumstantial',
  });
  expect(
    findingsOf(rule, {
      subject,
      objects: [node('n1', 'True', { conditions: [condition('NetworkingReady', 'False', 'IPAMDNotRunning')] })],
    }),
  ).toHaveLength(1);
});

test('stays silent on a node that has just joined', () => {
  const young = node('n1', 'False', { message });
  young.metadata.creationTimestamp = '2026-11-20T08:28:00Z';
  expectSilent(rule, { subject, objects: [young] });
});
