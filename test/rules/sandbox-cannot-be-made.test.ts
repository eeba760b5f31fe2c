import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/sandbox-cannot-be-made.ts';
import { node, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const waiting = pod('web-1', 'n1', {
  phase: 'Pending',
  ready: 'False',
  spec: { runtimeClassName: 'gvisor', containers: [] },
});
const failed = (text: string) =>
  event(waiting, 'FailedCreatePodSandBox', `Failed to create pod sandbox: rpc error: code = Unknown desc = ${text}`);
const nodes = [node('n1'), node('n2')];

test('a missing handler, an agent that is down, a stuck runtime of one node', () => {
  expect(
    findingsOf(rule, {
      subject,
      objects: [...nodes, waiting, failed('failed to get sandbox runtime: no runtime for "runsc" is configured')],
    })[0],
  ).toMatchObject({ owner: 'platform', boundary: 'config', strength: 'derived' });
  const agent = pod('cilium-x', 'n1', { namespace: 'kube-system', ready: 'False' });
  expect(
    findingsOf(rule, {
      subject,
      objects: [
        ...nodes,
        waiting,
        agent,
        failed('failed to setup network for sandbox "x": plugin type="cilium-cni": unable to connect to Cilium daemon'),
      ],
    })[0]?.cause.en,
  ).toContain('cilium-x');
  expect(
    findingsOf(rule, { subject, objects: [...nodes, waiting, failed('context deadline exceeded')] })[0],
  ).toMatchObject({ boundary: 'node', strength: 'derived' });
});

test('an address that is missing for an unknown reason is only a hint', () => {
  expect(
    findingsOf(rule, {
      subject,
      objects: [
        ...nodes,
        waiting,
        failed('failed to setup network: add cmd: failed to assign an IP address to container'),
      ],
    })[0],
  ).toMatchObject({ strength: 'circumstantial' });
});

test('stays silent once the pod runs, and on later steps', () => {
  const running = pod('web-1', 'n1');
  expectSilent(rule, {
    subject,
    objects: [...nodes, running, event(running, 'FailedCreatePodSandBox', 'failed to setup network')],
  });
  expectSilent(rule, { subject, objects: [...nodes, waiting, event(waiting, 'Failed', 'Failed to pull image')] });
});
