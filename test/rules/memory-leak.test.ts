import { expect, test } from 'vitest';
import type { Series } from '../../src/domain/facts.ts';
import rule from '../../src/rules/app/memory-leak.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, node, podOf, series } from './workloads.ts';

const climb = [400e6, 600e6, 800e6, 1000e6, 1200e6, 1400e6, 1600e6, 1800e6];
const saw = [400e6, 900e6, 1400e6, 1900e6, 300e6, 800e6, 1300e6, 1800e6, 250e6, 700e6, 1200e6];
const flat = climb.map((_, index) => index * 1000);
const pod = podOf('web', 'a');
const memory = (values: number[], of = pod): Series =>
  series('container_memory_working_set_bytes', { namespace: 'shop', pod: of.metadata.name, container: 'app' }, values);
const requests = (values: number[]): Series =>
  series('http_requests_total', { namespace: 'shop', service: 'web' }, values);
const hpa = (metric: string) =>
  object('HorizontalPodAutoscaler', 'web', {
    namespace: 'shop',
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      maxReplicas: 20,
      metrics: [{ type: 'Resource', resource: { name: metric } }],
    },
  });
const machine = node('node-1', { labels: { 'karpenter.sh/nodepool': 'default' } });
const pool = object('NodePool', 'default', { status: { resources: { cpu: '40' } } });
const app = deployment('web', { replicas: 12, age: 55, before: {} });
const rescale = event(app[0]!, 'ScalingReplicaSet', 'Scaled up replica set web-2 from 4 to 12', { at: minutesAgo(10) });
const subject = { kind: 'NodePool', name: 'default' };

test('a climb at flat traffic behind an HPA on memory explains replicas, nodes and a pool at its limit', () => {
  for (const values of [climb, saw]) {
    const [finding] = findingsOf(rule, {
      subject,
      objects: [...app, pod, machine, pool, hpa('memory'), rescale],
      series: [memory(values), requests(flat)],
    });
    expect(finding).toMatchObject({ owner: 'app', mechanism: 'leak', strength: 'direct' });
    expect(finding?.explains).toEqual(expect.arrayContaining(['pool-limit', 'autoscaler-growth', 'pending', 'oom']));
    expect(finding?.affects).toContainEqual(expect.objectContaining({ kind: 'NodePool', name: 'default' }));
    expect(finding?.cause.en).toContain('4 to 12 replicas');
  }
});

test('KEDA on memory is such a link too; an HPA on CPU is none, and the leak stays in its pods', () => {
  const scaler = object('ScaledObject', 'web', {
    namespace: 'shop',
    spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'memory' }] },
  });
  const keda = findingsOf(rule, {
    subject,
    objects: [...app, pod, machine, pool, scaler, rescale],
    series: [memory(climb)],
  });
  expect(keda[0]?.explains).toContain('pool-limit');
  const cpu = findingsOf(rule, {
    subject,
    objects: [...app, pod, machine, pool, hpa('cpu'), rescale],
    series: [memory(climb)],
  });
  expect(cpu[0]?.explains).not.toContain('pool-limit');
  expect(cpu[0]?.affects).not.toContainEqual(expect.objectContaining({ kind: 'NodePool' }));
});

test('stays silent for load that grew, a plateau, and jitter', () => {
  const grown = [0, 1000, 2000, 3000, 8000, 14000, 22000, 32000];
  const objects = [...app, pod, machine, pool, hpa('memory'), rescale];
  expectSilent(rule, { subject, objects, series: [memory(climb), requests(grown)] });
  expectSilent(rule, {
    subject,
    objects,
    series: [memory([400e6, 700e6, 900e6, 1000e6, 1010e6, 1010e6, 1010e6, 1010e6])],
  });
  expectSilent(rule, { subject, objects, series: [memory([410e6, 411e6, 410e6, 411e6, 410e6, 411e6, 410e6, 411e6])] });
});
