import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/node-software-regression.ts';
import { node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const software = (kernelVersion: string) => ({
  osImage: 'Amazon Linux 2023',
  kernelVersion,
  containerRuntimeVersion: 'containerd://1.7',
});
const make = (name: string, ready: 'True' | 'False', pool: string, zone: string, kernel: string) =>
  node(name, ready, { zone, labels: { 'karpenter.sh/nodepool': pool }, info: software(kernel) });
const good = [make('g1', 'True', 'a', 'z1', '6.1.1'), make('g2', 'True', 'b', 'z2', '6.1.1')];

test('one kernel over several pools and zones, which no healthy node has', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...good, make('x1', 'False', 'a', 'z1', '6.1.9'), make('x2', 'False', 'b', 'z2', '6.1.9')],
  });
  expect(finding).toMatchObject({ owner: 'cloud', mechanism: 'node-image' });
  expect(finding?.cause.en).toContain('kernel 6.1.9');
  expect(finding?.contributing[0]?.owner).toBe('platform');
});

test('stays silent for one pool, one zone, a shared kernel, or an own cluster', () => {
  expectSilent(rule, {
    subject,
    objects: [...good, make('x1', 'False', 'a', 'z1', '6.1.9'), make('x2', 'False', 'a', 'z2', '6.1.9')],
  });
  expectSilent(rule, {
    subject,
    objects: [...good, make('x1', 'False', 'a', 'z1', '6.1.9'), make('x2', 'False', 'b', 'z1', '6.1.9')],
  });
  expectSilent(rule, {
    subject,
    objects: [...good, make('x1', 'False', 'a', 'z1', '6.1.1'), make('x2', 'False', 'b', 'z2', '6.1.1')],
  });
  expectSilent(rule, {
    provider: 'self',
    subject,
    objects: [...good, make('x1', 'False', 'a', 'z1', '6.1.9'), make('x2', 'False', 'b', 'z2', '6.1.9')],
  });
});

test('a kernel that locks up in time: most nodes that run it have failed, none with the former one', () => {
  const bad = ['a', 'b', 'c'].map((pool, index) => make(`x${index}`, 'False', pool, `z${index}`, '6.1.9'));
  const lucky = (count: number) =>
    Array.from({ length: count }, (_, index) => make(`y${index}`, 'True', 'a', 'z1', '6.1.9'));
  expect(findingsOf(rule, { subject, objects: [...good, ...bad, ...lucky(2)] })[0]).toMatchObject({ owner: 'cloud' });
  expectSilent(rule, { subject, objects: [...good, ...bad, ...lucky(3)] });
});
