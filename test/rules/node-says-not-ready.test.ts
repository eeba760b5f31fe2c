import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-says-not-ready.ts';
import { at, node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' } as const;
const of = (...args: [ready: 'False' | 'Unknown', rest: Record<string, any>]) =>
  findingsOf(rule, { subject, objects: [node('n1', ...args)] })[0];
const stopped = { spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }] } };

test('a machine that goes down or is stopped: who asked for it is the question', () => {
  expect(of('False', { message: 'node is shutting down' })).toMatchObject({
    owner: 'undetermined',
    missing: [{ layer: 'cloud' }],
  });
  expect(of('Unknown', stopped)).toMatchObject({ owner: 'undetermined' });
});

test('a kubelet that lacks a part of itself is the platform’s', () => {
  for (const message of ['[missing node capacity for resources: ephemeral-storage]', 'CSINode is not yet initialized'])
    expect(of('False', { message })).toMatchObject({ owner: 'platform', strength: 'direct' });
});

test('stays silent on nodes that are being removed, that have just started, and on other words', () => {
  const leaving = { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] } };
  expect(of('False', { message: 'node is shutting down', ...leaving })).toBeUndefined();
  expect(of('False', { message: 'CSINode is not yet initialized', since: at('08:28') })).toBeUndefined();
  expect(of('False', { message: 'container runtime is down' })).toBeUndefined();
  expectSilent(rule, { subject, objects: [node('n1')] });
});
