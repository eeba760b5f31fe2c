import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-pressure.ts';
import { node, pod, series } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const pressed = node('n1', 'True', {
  conditions: [condition('MemoryPressure', 'True', 'KubeletHasInsufficientMemory')],
});
const evicted = (used: string, request: string, team = 'shop') =>
  pod('solver-1', 'n1', {
    phase: 'Failed',
    labels: { team },
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      message: `The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container solver was using ${used}, request is ${request}, has larger consumption of memory. `,
    },
  });

test('whoever uses far more than it asked for', () => {
  expect(findingsOf(rule, { subject, objects: [pressed, evicted('9Gi', '1Gi')] })[0]).toMatchObject({
    owner: 'app',
    strength: 'derived',
  });
  expect(findingsOf(rule, { subject, objects: [pressed, evicted('9Gi', '1Gi', 'platform')] })[0]).toMatchObject({
    owner: 'platform',
  });
});

test('nobody above a request: the node’s own sizes', () => {
  expect(findingsOf(rule, { subject, objects: [pressed, evicted('1Gi', '1Gi')] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'circumstantial',
  });
});

test('stays silent without pressure', () => {
  expectSilent(rule, { subject, objects: [node('n1'), evicted('9Gi', '1Gi')] });
});

test('a container that no eviction names, by its own measure', () => {
  const agent = pod('agent-1', 'n1', {
    namespace: 'logging',
    spec: { nodeName: 'n1', containers: [{ name: 'agent', resources: { requests: { memory: '128Mi' } } }] },
  });
  const sized = { ...pressed, status: { ...pressed.status, allocatable: { memory: '15Gi' } } };
  const used = (gibibytes: number) =>
    series('container_memory_working_set_bytes', { namespace: 'logging', pod: 'agent-1', container: 'agent' }, [
      0.2 * 2 ** 30,
      gibibytes * 2 ** 30,
    ]);
  const judged = (gibibytes: number) =>
    findingsOf(rule, { subject, objects: [sized, agent, evicted('1Gi', '1Gi')], series: [used(gibibytes)] })[0];
  expect(judged(9)).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(judged(9)?.cause.en).toContain('logging/agent-1');
  expect(judged(0.5)?.strength).toBe('circumstantial');
});

test('a disk that one container fills: its writes on the node’s disk are measured', () => {
  const full = node('n1', 'True', { conditions: [condition('DiskPressure', 'True', 'KubeletHasDiskPressure')] });
  const sized = { ...full, status: { ...full.status, allocatable: { 'ephemeral-storage': '95551679124' } } };
  const writer = (namespace: string) =>
    pod('writer-1', 'n1', { namespace, spec: { nodeName: 'n1', containers: [{ name: 'w', resources: {} }] } });
  const judged = (namespace: string, gigabytes: number) =>
    findingsOf(rule, {
      subject,
      objects: [sized, writer(namespace)],
      series: [
        series('container_fs_usage_bytes', { namespace, pod: 'writer-1', container: 'w' }, [1e9, gigabytes * 1e9]),
      ],
    })[0];
  expect(judged('logging', 47)).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(judged('shop', 47)).toMatchObject({ owner: 'app', strength: 'derived' });
  expect(judged('shop', 2)?.strength).toBe('circumstantial');
});
