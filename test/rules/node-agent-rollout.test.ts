import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/platform/node-agent-rollout.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, node, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const agent = (on: string, age: number, image: string, namespace: string): KubeObject =>
  object('Pod', `agent-${on}`, {
    namespace,
    creationTimestamp: minutesAgo(age),
    ownerReferences: [{ kind: 'DaemonSet', name: 'agent', uid: 'uid-DaemonSet-agent', controller: true }],
    spec: { nodeName: on, containers: [{ name: 'agent', image }] },
    status: { phase: 'Running', conditions: [condition('Ready', 'True')] },
  });
const ill = (name: string, on: string, since: number): KubeObject => {
  const pod = podOf(name, on, { node: on, age: 900, ready: false });
  pod.status.conditions = [condition('Ready', 'False', 'ContainersNotReady', '', minutesAgo(since))];
  return pod;
};

interface Options {
  namespace?: string;
  nodeAge?: number;
  ages?: [number, number, number];
  sick?: KubeObject[];
}
/** Nodes 1 and 2 have the new agent, node 3 the former one; web and api fail where the new one is. */
const walk = ({
  namespace = 'kube-system',
  nodeAge = 9000,
  ages = [40, 30, 9000],
  sick,
}: Options = {}): KubeObject[] => [
  ...[1, 2, 3].map((number) => node(`node-${number}`, { creationTimestamp: minutesAgo(nodeAge) })),
  object('DaemonSet', 'agent', { apiVersion: 'apps/v1', namespace, spec: {} }),
  ...ages.map((age, index) => agent(`node-${index + 1}`, age, age > 1000 ? 'agent:1' : 'agent:2', namespace)),
  ...deployment('web', { age: 9000 }),
  ...deployment('api', { age: 9000 }),
  ...(sick ?? [ill('web', 'node-1', 38), ill('api', 'node-2', 27)]),
  podOf('web', 'node-3', { node: 'node-3', age: 900 }),
];

test('pods of several workloads go ill on each node just after the agent’s update reached it', () => {
  const [finding] = findingsOf(rule, { subject, objects: walk() });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived', root: { kind: 'DaemonSet', name: 'agent' } });
  expect(finding!.cause.en).toContain('image agent:1 → agent:2');
  expect(finding!.onset).toBe(minutesAgo(40));
  expect(finding!.nextSteps[0]!.en).toContain('kubectl rollout undo daemonset/agent -n kube-system');
});

test('nodes that fall silent after it count as victims; an update that is through is still a walk', () => {
  const lost = walk({ sick: [ill('web', 'node-1', 38)] });
  lost[1]!.status.conditions = [condition('Ready', 'Unknown', 'NodeStatusUnknown', '', minutesAgo(28))];
  expect(findingsOf(rule, { subject, objects: lost })).toHaveLength(1);
  const through = walk({
    ages: [40, 30, 20],
    sick: [ill('web', 'node-1', 38), ill('api', 'node-2', 27), ill('api', 'node-3', 15)],
  });
  expect(findingsOf(rule, { subject, objects: through })).toHaveLength(1);
});

test('stays silent for new nodes, trouble before it or where it has not been, one workload, and an app’s own agent', () => {
  const silent = (options: Options) => expectSilent(rule, { subject, objects: walk(options) });
  silent({ nodeAge: 41 });
  silent({ sick: [ill('web', 'node-1', 60), ill('api', 'node-2', 55)] });
  silent({ sick: [ill('web', 'node-1', 38), ill('api', 'node-2', 27), ill('api', 'node-3', 26)] });
  silent({ sick: [ill('web', 'node-1', 38), ill('web', 'node-2', 27)] });
  silent({ sick: [ill('web', 'node-1', 5), ill('api', 'node-2', 4)] });
  silent({ namespace: 'shop' });
  silent({ ages: [40, 40, 40], sick: [ill('web', 'node-1', 38), ill('api', 'node-2', 38)] });
});
