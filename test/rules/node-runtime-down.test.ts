import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-runtime-down.ts';
import { at, lease, node } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };

test('the kubelet’s words, the detectors’ conditions, a socket that refuses', () => {
  for (const message of [
    '[container runtime is down, PLEG is not healthy: pleg was last seen active 17m ago; threshold is 3m0s]',
    'container runtime status check may not have completed yet',
    'PLEG is not healthy: pleg has yet to be successful',
  ])
    expect(
      findingsOf(rule, { subject, objects: [node('n1', 'False', { message }), lease('n1', at('08:30'))] })[0],
    ).toMatchObject({ owner: 'platform', boundary: 'node', strength: 'direct' });
  const agent = node('n1', 'True', {
    conditions: [condition('ContainerRuntimeReady', 'False', 'ContainerdRepeatedRestart')],
  });
  const detector = node('n1', 'True', {
    conditions: [condition('ContainerRuntimeUnhealthy', 'True', 'ContainerdUnhealthy')],
  });
  for (const object of [agent, detector]) expect(findingsOf(rule, { subject, objects: [object] })).toHaveLength(1);
  const refused = event(
    node('n1'),
    'ContainerdUnhealthy',
    'dial unix /run/containerd/containerd.sock: connect: connection refused',
  );
  expect(findingsOf(rule, { subject, objects: [node('n1'), refused] })[0]).toMatchObject({ strength: 'derived' });
});

test('stays silent on a silent kubelet and on a network that is not ready', () => {
  expectSilent(rule, { subject, objects: [node('n1', 'Unknown')] });
  expectSilent(rule, {
    subject,
    objects: [
      node('n1', 'False', {
        message:
          'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
      }),
    ],
  });
});
