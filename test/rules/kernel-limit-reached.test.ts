import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/kernel-limit-reached.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { crashing, deployment, logOf, node, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const bad = podOf('web', 'a', { ready: false, node: 'node-1', status: crashing(134) });
const good = podOf('web', 'b', { node: 'node-2' });
const peer = podOf('sync', 'a', { ready: false, node: 'node-1', status: crashing(134) });
const objects = [
  ...deployment('web'),
  ...deployment('sync'),
  bad,
  good,
  peer,
  node('node-1', { labels: { 'karpenter.sh/nodepool': 'new' } }),
  node('node-2'),
];
const tuner = object('DaemonSet', 'node-sysctl', {
  namespace: 'kube-system',
  spec: { template: { spec: { nodeSelector: { pool: 'old' } } } },
});

test.each([
  ['inotify', 'The configured user limit (128) on the number of inotify instances has been reached'],
  ['max_map_count', 'max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]'],
  ['file-max', 'accept: too many open files in system'],
  ['conntrack', 'nf_conntrack: table full, dropping packet'],
])('programs end on some nodes at a kernel setting and run on others: %s', (setting, words) => {
  const logs = [logOf(bad, words), logOf(peer, words)];
  const [finding] = findingsOf(rule, { subject, objects, logs });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'node', strength: 'derived' });
  expect(finding?.cause.en).toContain(setting);
  expect(findingsOf(rule, { subject, objects: [...objects, tuner], logs })[0]).toMatchObject({
    strength: 'direct',
    root: { kind: 'DaemonSet' },
  });
});

test('stays silent for a single victim, for a failure on all nodes, and for the process’ own limit', () => {
  const words = 'number of inotify instances has been reached';
  expectSilent(rule, { subject, objects, logs: [logOf(bad, words)] });
  expectSilent(rule, { subject, objects, logs: [bad, good, peer].map((pod) => logOf(pod, words)) });
  expectSilent(rule, { subject, objects, logs: [bad, peer].map((pod) => logOf(pod, 'accept4: too many open files')) });
});
