import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/ends-without-trace.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';
import { deployment, minutesAgo, node, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = [...deployment('web'), node('node-1')];
const ended = (reason: string, exitCode: number, ago = 30) =>
  podOf('web', 'a', { status: { lastState: { terminated: { reason, exitCode, finishedAt: minutesAgo(ago) } } } });
const evicted = () => {
  const pod = podOf('web', 'b', { ready: false });
  pod.status.conditions.push(condition('DisruptionTarget', 'True', 'EvictionByEvictionAPI', 'Eviction API: evicting'));
  return pod;
};

test('containers that the node lost, and evictions without a caller, name nobody', () => {
  for (const pod of [ended('ContainerStatusUnknown', 137), ended('Unknown', 255)])
    expect(findingsOf(rule, { subject, objects: [...app, pod] })[0]).toMatchObject({
      owner: 'undetermined',
      boundary: 'node',
    });
  const [finding] = findingsOf(rule, { subject, objects: [...app, evicted()] });
  expect(finding).toMatchObject({ owner: 'undetermined', boundary: null });
  expect(finding?.missing[0]?.fix).toContain('pods/eviction');
});

test('silent for ends of the application, losses long ago, and evictions whose caller is known', () => {
  expectSilent(rule, { subject, objects: [...app, ended('Error', 137)] });
  expectSilent(rule, { subject, objects: [...app, ended('ContainerStatusUnknown', 137, 800)] });
  const pod = evicted();
  expectSilent(rule, { subject, objects: [...app, pod, event(pod, 'Evicted', 'Evicted pod: Underutilized')] });
});
