import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-out-of-memory.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { deployment, node, podOf, series } from './workloads.ts';

const machine = node('node-1');
const oom = event(machine, 'SystemOOM', 'System OOM encountered, victim process: nginx, pid: 4711');
const subject = { kind: 'Node', name: 'node-1' };
const requests = { resources: { requests: { memory: '256Mi' } } };
const victim = podOf('web', 'v', { container: requests });
const greedy = podOf('batch', 'g', { container: requests });
const use = (pod: typeof victim, bytes: number) =>
  series('container_memory_working_set_bytes', { namespace: 'shop', pod: pod.metadata.name, container: 'app' }, [
    bytes,
    bytes,
  ]);

test('the pod far above its request is the culprit, whoever was killed', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [machine, oom, ...deployment('web'), ...deployment('batch'), victim, greedy],
    series: [use(victim, 200e6), use(greedy, 9e9)],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'derived', root: { name: greedy.metadata.name } });
});

test('without memory use nobody is named, and the read that would tell is', () => {
  const [finding] = findingsOf(rule, { subject, objects: [machine, oom, ...deployment('web'), victim] });
  expect(finding).toMatchObject({ owner: 'undetermined', strength: 'circumstantial' });
  expect(finding?.missing[0]?.fix).toContain('container_memory_working_set_bytes');
});

test('a node that reserves nothing for the system is the platform’s; a node without the kernel’s word is nobody’s', () => {
  const bare = node('node-1');
  bare.status.allocatable.memory = '16Gi';
  expect(findingsOf(rule, { subject, objects: [bare, oom] })[0]?.owner).toBe('platform');
  expectSilent(rule, { subject, objects: [machine, ...deployment('batch'), greedy], series: [use(greedy, 9e9)] });
});
