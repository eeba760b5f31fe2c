import { expect, test } from 'vitest';
import rule from '../../src/rules/app/pod-selects-no-node.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { node, pool, refused, subjectOf, waiting } from './nodes.ts';
import { deployment, minutesAgo } from './workloads.ts';

const message = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.";
const selects = (nodeSelector: Record<string, string>, age: number, rest: Record<string, any> = {}) => {
  const spec = { nodeSelector, ...rest.spec };
  const objects = deployment('web', { age, spec, before: rest.before, meta: rest.meta });
  const set = objects.find((entry) => entry.kind === 'ReplicaSet')!;
  const pod = waiting('web-1', { owner: set, spec, message: rest.message ?? message, age: rest.waits ?? 20 });
  return {
    pod,
    objects: [...objects, pod, node('n1', { pool: 'default', age: 60 * 24 * 30 })],
    subject: subjectOf(pod),
  };
};

test('a new template asks for a label that nothing ever had: the app’s', () => {
  const { objects, subject } = selects({ disktype: 'nvme' }, 25);
  const [finding] = findingsOf(rule, { subject, objects: [...objects, pool('default')] });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'scheduling', strength: 'direct' });
  expect(finding?.cause.en).toContain('disktype');
});

test('the pool was changed after the template: the platform’s', () => {
  const { objects, subject } = selects({ 'kubernetes.io/arch': 'amd64' }, 60 * 24 * 40);
  const arm = pool('workers', {
    requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }],
    written: 40,
  });
  const [finding] = findingsOf(rule, { subject, objects: [...objects, arm] });
  expect(finding).toMatchObject({
    owner: 'platform',
    mechanism: 'pool-mismatch',
    strength: 'direct',
    root: { kind: 'NodePool', name: 'workers' },
  });
});

test('an old template that ran before is not the cause, though nobody tells what changed', () => {
  const meta = { status: { conditions: [condition('Progressing', 'True', 'NewReplicaSetAvailable')] } };
  const { objects, subject } = selects({ pool: 'batch' }, 60 * 24 * 40, { meta });
  expect(findingsOf(rule, { subject, objects: [...objects, pool('default')] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('a dedicated pool that the new template does not tolerate: the app’s', () => {
  const { objects, subject } = selects({ tier: 'gpu' }, 25, {
    message: '0/2 nodes are available: 2 node(s) had untolerated taint(s).',
  });
  const gpu = pool('gpu', { labels: { tier: 'gpu' }, taints: [{ key: 'gpu', value: 'true', effect: 'NoSchedule' }] });
  const [finding] = findingsOf(rule, { subject, objects: [...objects, gpu] });
  expect(finding).toMatchObject({ owner: 'app' });
  expect(finding?.cause.en).toContain('gpu=true:NoSchedule');
});

test('Karpenter’s own words count where our reading of the pool finds nothing', () => {
  const { pod, objects, subject } = selects({ 'karpenter.k8s.aws/instance-family': 'm6a' }, 25);
  const words =
    'incompatible with nodepool "default", daemonset overhead={}, incompatible requirements, label "karpenter.k8s.aws/instance-family" does not have known values';
  expect(
    findingsOf(rule, { provider: 'eks-auto', subject, objects: [...objects, pool('default'), refused(pod, words)] })[0],
  ).toMatchObject({ owner: 'app' });
});

test('node groups that were made anew without the label', () => {
  const meta = { status: { conditions: [condition('Progressing', 'True', 'NewReplicaSetAvailable')] } };
  const { objects, subject } = selects({ pool: 'batch' }, 60 * 24 * 40, { meta });
  expect(findingsOf(rule, { provider: 'aks', subject, objects })[0]).toMatchObject({ owner: 'platform' });
});

test('nodes still bear the label and are full; the pool that made them lost it', () => {
  const { pod, objects, subject } = selects({ tier: 'nvme' }, 60 * 24 * 40);
  const full = node('n9', { pool: 'fast', labels: { tier: 'nvme' } });
  const words = 'incompatible requirements, label "tier" does not have known values (NodePool=fast)';
  const changed = pool('fast', { labels: { storage: 'nvme' }, written: 40 });
  expect(findingsOf(rule, { subject, objects: [...objects, full, changed, refused(pod, words)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    root: { kind: 'NodePool', name: 'fast' },
  });
  expectSilent(rule, { subject, objects: [...objects, full, changed] });
});

test('silent where a pool or a node fits, or only room lacks', () => {
  const { objects, subject } = selects({ tier: 'web' }, 25);
  expectSilent(rule, { subject, objects: [...objects, pool('web', { labels: { tier: 'web' } })] });
  expectSilent(rule, { subject, objects: [...objects, node('n2', { labels: { tier: 'web' } })] });
  const full = selects({ tier: 'web' }, 25, { message: '0/1 nodes are available: 1 Insufficient cpu.' });
  expectSilent(rule, { subject: full.subject, objects: full.objects });
});

test('a taint that a controller set for a time does not count', () => {
  const { objects, subject } = selects({}, 25, {
    message: '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.',
  });
  const young = node('n2', { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }], age: 2 });
  expectSilent(rule, { subject, now: minutesAgo(0), objects: [...objects, young] });
});

test('a zone that the workload itself asks for is its own wish, also where only the template shows it', () => {
  const zone = (value: string) => ({ 'topology.kubernetes.io/zone': value });
  const { objects, subject, pod } = selects(zone('eu-west-1d'), 25);
  const zones = [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['eu-west-1a', 'eu-west-1b'] }];
  const judged = () =>
    findingsOf(rule, { subject, objects: [...objects, pool('default', { requirements: zones })] })[0];
  expect(judged()).toMatchObject({ owner: 'app', boundary: 'scheduling' });
  delete pod.spec.nodeSelector;
  const key = 'topology.kubernetes.io/zone';
  objects.push(
    refused(
      pod,
      `incompatible requirements, key ${key}, ${key} In [eu-west-1d] not in ${key} In [eu-west-1a eu-west-1b] (NodePool=default)`,
    ),
  );
  expect(judged()).toMatchObject({ owner: 'app', boundary: 'scheduling' });
});
