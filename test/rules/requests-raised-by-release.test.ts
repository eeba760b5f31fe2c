import { expect, test } from 'vitest';
import rule from '../../src/rules/app/requests-raised-by-release.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { pool } from './nodes.ts';
import { deployment, node, podOf, series } from './workloads.ts';

const asks = (requests: Record<string, string>) => ({ container: { resources: { requests } } });
const machine = () => {
  const made = node('node-1');
  made.metadata.labels = { ...made.metadata.labels, 'karpenter.sh/nodepool': 'default' };
  made.status = { ...made.status, allocatable: { cpu: '8', memory: '32Gi' } };
  return made;
};
const released = (before: Record<string, string>, after: Record<string, string>, rest = {}) => [
  ...deployment('web', { replicas: 16, age: 50, ...asks(after), before: asks(before), ...rest }),
  podOf('web', 'a', { node: 'node-1' }),
  machine(),
  pool('default'),
];
const subject = { kind: 'NodePool', name: 'default' };

test('a release that asks for much more of each pod makes the nodes, whatever the resource', () => {
  for (const [before, after] of [
    [{ cpu: '300m' }, { cpu: '1700m' }],
    [{ memory: '512Mi' }, { memory: '4Gi' }],
  ] as Record<string, string>[][]) {
    const [finding] = findingsOf(rule, { subject, objects: released(before!, after!) });
    expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'derived' });
    expect(JSON.stringify(finding?.evidence)).toContain(Object.values(after!)[0]);
  }
});

test('the sum that rises with the rollout leaves no doubt', () => {
  const requested = series(
    'karpenter_nodes_total_pod_requests',
    { resource_type: 'cpu', nodepool: 'default' },
    [11, 11, 11, 11, 11, 33, 33, 33],
  );
  const rollout = requested.points[5]![0] * 1000;
  const age = (Date.parse('2026-11-20T08:30:00Z') - rollout) / 60_000;
  const objects = released({ cpu: '300m' }, { cpu: '1700m' }, { age });
  expect(findingsOf(rule, { subject, objects, series: [requested] })[0]?.strength).toBe('direct');
});

test('stays silent for a small raise, an old one, a first revision and grown replicas', () => {
  expectSilent(rule, { subject, objects: released({ cpu: '300m' }, { cpu: '350m' }) });
  expectSilent(rule, { subject, objects: released({ cpu: '10m' }, { cpu: '40m' }) });
  expectSilent(rule, { subject, objects: released({ cpu: '300m' }, { cpu: '1700m' }, { age: 60 * 24 }) });
  expectSilent(rule, { subject, objects: released({ cpu: '300m' }, { cpu: '1700m' }, { before: undefined }) });
  const grown = series('kube_deployment_status_replicas', { namespace: 'shop', deployment: 'web' }, [4, 4, 4, 16, 16]);
  expectSilent(rule, { subject, objects: released({ cpu: '300m' }, { cpu: '1700m' }), series: [grown] });
});
