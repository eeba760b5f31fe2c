import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/autoscaler-halted.ts';
import { node } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const map = (status: string) =>
  object('ConfigMap', 'cluster-autoscaler-status', { namespace: 'kube-system', data: { status } });
const yaml = (health: string) => `time: 2026-11-20 08:29:40.1 +0000 UTC
autoscalerStatus: Running
clusterWide:
  health:
    status: ${health}
    nodeCounts:
      registered:
        total: 10
        ready: 4
        unready:
          total: 6
    lastTransitionTime: "2026-11-20T08:12:00Z"
nodeGroups: []
`;
const words = (health: string) => `Cluster-autoscaler status at 2026-11-20 08:29:40.1 +0000 UTC:
Cluster-wide:
  Health:      ${health} (ready=4 unready=6 (resourceUnready=0) notStarted=0 longNotStarted=0 registered=10 longUnregistered=0)
               LastProbeTime:      2026-11-20 08:29:40.1 +0000 UTC
               LastTransitionTime: 2026-11-20 08:12:00.2 +0000 UTC
  ScaleUp:     NoActivity (ready=4 registered=10)

NodeGroups:
  Name:        workers
  Health:      ${health} (ready=4 unready=6 registered=10 longUnregistered=0 cloudProviderTarget=10 (minSize=1, maxSize=20))
`;

test.each([
  ['YAML', yaml],
  ['text', words],
])('the status says that the cluster is unhealthy (%s)', (_, write) => {
  const [finding] = findingsOf(rule, { subject, objects: [pod, map(write('Unhealthy')), node('n1', 'Unknown')] });
  expect(finding).toMatchObject({ owner: 'undetermined', onset: '2026-11-20T08:12:00Z' });
  expect(finding!.cause.en).toContain('6 of 10 nodes');
  expectSilent(rule, { subject, objects: [pod, map(write('Healthy'))] });
});

test('so does its event, and nobody waits without waiting pods', () => {
  const said = event(map(''), 'ClusterUnhealthy', 'Cluster is unhealthy', { source: 'cluster-autoscaler' });
  expect(findingsOf(rule, { subject, objects: [pod, said] })).toHaveLength(1);
  expectSilent(rule, { subject, objects: [node('n1', 'Unknown'), said] });
});
