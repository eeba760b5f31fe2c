import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/network-agent-degraded.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { logOf, minutesAgo, node } from './workloads.ts';

const agent = (name: string, where: string, ready: boolean) =>
  object('Pod', name, {
    namespace: 'kube-system',
    spec: { nodeName: where, containers: [{ name: 'app' }] },
    status: {
      phase: 'Running',
      startTime: minutesAgo(600),
      conditions: [condition('Ready', ready ? 'True' : 'False')],
    },
  });
const subject = { kind: 'Cluster', name: 'test' };
const nodes = [node('node-1'), node('node-2')];

test.each([
  ['calico-node-aaaaa', 'bird: Node_10_20_2_1: Received: Bad peer AS: 64512'],
  ['cilium-bbbbb', 'level=warning msg="route to 10.244.0.0/16 missing, reinstalling failed: network is down"'],
])('agents that lost peers or routes on some nodes: %s', (name, words) => {
  const sick = agent(name, 'node-1', false);
  expect(
    findingsOf(rule, { provider: 'self', subject, objects: [sick, ...nodes], logs: [logOf(sick, words)] }),
  ).toMatchObject([{ owner: 'platform', boundary: 'network', affects: 'cluster', strength: 'derived' }]);
});

test('the probe’s own words are enough', () => {
  const sick = agent('calico-node-aaaaa', 'node-1', false);
  const said = event(
    sick,
    'Unhealthy',
    'calico/node is not ready: BIRD is not ready: BGP not established with 10.0.0.1',
  );
  expect(findingsOf(rule, { subject, objects: [sick, said, ...nodes] })).toHaveLength(1);
});

test('stays silent for ready agents, and for those of silent nodes', () => {
  const well = agent('calico-node-aaaaa', 'node-1', true);
  const sick = agent('calico-node-aaaaa', 'node-1', false);
  const words = 'BGP not established with 10.0.0.1';
  expectSilent(rule, { subject, objects: [well, ...nodes], logs: [logOf(well, words)] });
  const gone = object('Node', 'node-1', { status: { conditions: [condition('Ready', 'Unknown')] } });
  expectSilent(rule, { subject, objects: [sick, gone], logs: [logOf(sick, words)] });
});
