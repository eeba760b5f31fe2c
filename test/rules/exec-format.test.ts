import { expect, test } from 'vitest';
import rule from '../../src/rules/app/exec-format.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { crashing, deployment, logOf, minutesAgo, node, podOf } from './workloads.ts';

const arm = (name: string, creationTimestamp?: string) =>
  node(name, { labels: { 'kubernetes.io/arch': 'arm64' }, creationTimestamp });
const bad = (name: string, suffix: string, on: string, image = `registry.example/${name}:2`) =>
  podOf(name, suffix, { node: on, ready: false, status: crashing(255), container: { image } });
const good = (name: string, suffix: string, on: string) => podOf(name, suffix, { node: on });
const says = (pod: ReturnType<typeof podOf>, line = 'exec /app: exec format error') => logOf(pod, line);
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };

test('an image that runs on one architecture and fails on the other is its owner’s', () => {
  const [failing, running, neighbour] = [
    bad('web', 'a', 'arm-1'),
    good('web', 'b', 'node-1'),
    good('api', 'c', 'arm-1'),
  ];
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...deployment('web'), ...deployment('api'), failing, running, neighbour, arm('arm-1'), node('node-1')],
    logs: [says(failing)],
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'image', strength: 'direct' });
  expect(finding?.evidence.map((entry) => entry.value)).toEqual(expect.arrayContaining(['arm64', 'amd64']));
});

test('an old template that meets its first node of another architecture was hit by a change of nodes', () => {
  const [failing, running] = [bad('web', 'a', 'arm-1'), good('web', 'b', 'node-1')];
  const [finding] = findingsOf(rule, {
    subject,
    objects: [
      ...deployment('web', { age: 60 * 24 * 40 }),
      failing,
      running,
      arm('arm-1', minutesAgo(50)),
      node('node-1'),
    ],
    logs: [says(failing)],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('several images that fail on one node and run on its equals are a damaged node, whoever broke it', () => {
  const [web, api] = [bad('web', 'a', 'node-2'), bad('api', 'b', 'node-2')];
  const [finding] = findingsOf(rule, {
    subject,
    objects: [
      ...deployment('web'),
      ...deployment('api'),
      web,
      api,
      good('web', 'c', 'node-1'),
      good('api', 'd', 'node-1'),
      node('node-1'),
      node('node-2'),
    ],
    logs: [says(web), says(api, 'exec /usr/bin/tini: input/output error')],
  });
  expect(finding).toMatchObject({ owner: 'undetermined', boundary: 'node', root: { kind: 'Node', name: 'node-2' } });
  expect(finding?.missing.map((entry) => entry.layer)).toEqual(['platform', 'cloud']);
});

test('stays silent for crashes with other last words', () => {
  const failing = bad('web', 'a', 'arm-1');
  expectSilent(rule, {
    subject,
    objects: [...deployment('web'), failing, arm('arm-1')],
    logs: [says(failing, 'panic: no config')],
  });
});
