import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/platform/placement-rule-injected.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { node, subjectOf, waiting } from './nodes.ts';
import { deployment } from './workloads.ts';

const spread = [{ maxSkew: 1, topologyKey: 'acme.io/rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} }];
const noRack =
  "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints (missing required label).";
const noMatch = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.";

const situation = (
  message: string,
  ofPod: Record<string, any>,
  ofTemplate: Record<string, any> = {},
  annotations?: any,
) => {
  const objects = deployment('web', { age: 28, spec: ofTemplate });
  const owner = objects.find((entry) => entry.kind === 'ReplicaSet');
  const pod: KubeObject = waiting('web-1', { owner, spec: ofPod, message });
  pod.metadata.annotations = annotations;
  return { subject: subjectOf(pod), objects: [...objects, pod, node('n1'), node('n2')] };
};

test('a rule that only the pod states was put there at admission: the platform', () => {
  const note = {
    'policies.kyverno.io/last-applied-patches':
      'add-spread.spread-over-racks.kyverno.io: added /spec/topologySpreadConstraints',
  };
  const [finding] = findingsOf(rule, situation(noRack, { topologySpreadConstraints: spread }, {}, note));
  expect(finding).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    root: { kind: 'ClusterPolicy', name: 'spread-over-racks' },
  });
  expect(findingsOf(rule, situation(noRack, { topologySpreadConstraints: spread }))[0]?.owner).toBe('platform');
  const selector = situation(
    noMatch,
    { nodeSelector: { pool: 'secure', os: 'linux' } },
    { nodeSelector: { os: 'linux' } },
  );
  expect(findingsOf(rule, selector)[0]?.cause.en).toContain('"pool":"secure"');
});

test('stays silent for the template’s own rules, in whatever order, and rules that are not what refuses', () => {
  expectSilent(rule, situation(noRack, { topologySpreadConstraints: spread }, { topologySpreadConstraints: spread }));
  expectSilent(rule, situation(noMatch, { nodeSelector: { a: '1', b: '2' } }, { nodeSelector: { b: '2', a: '1' } }));
  expectSilent(rule, situation('0/2 nodes are available: 2 Insufficient cpu.', { topologySpreadConstraints: spread }));
});
