import { expect, test } from 'vitest';
import rule from '../../src/rules/app/worse-since-rollout.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf, series } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const objects = [...deployment('web', { age: 30, before: {} }), podOf('web', 'a')];
const ratio = (values: number[]) =>
  series('istio_requests_total:error_ratio1m', { destination_workload: 'web', namespace: 'shop' }, values);
const step = [0.001, 0.001, 0.002, 0.001, 0.001, 0.001, 0.21, 0.24, 0.22, 0.23, 0.22, 0.22];

test('a step in errors or latency that comes with the rollout is the release’s', () => {
  const [finding] = findingsOf(rule, { subject, objects, series: [ratio(step)] });
  expect(finding).toMatchObject({ owner: 'app', strength: 'derived', boundary: 'application' });
  const latency = series(
    'http_request_duration_p95_seconds',
    { namespace: 'shop', service: 'web' },
    step.map((value) => 0.1 + value * 5),
  );
  expect(findingsOf(rule, { subject, objects, series: [latency] })).toHaveLength(1);
});

test('stays silent for a step before the rollout, none at all, another workload’s, and without a rollout', () => {
  expectSilent(rule, {
    subject,
    objects,
    series: [ratio([0.001, 0.001, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2])],
  });
  expectSilent(rule, { subject, objects, series: [ratio(step.map(() => 0.01))] });
  expectSilent(rule, {
    subject,
    objects,
    series: [series('error_ratio', { namespace: 'shop', service: 'api' }, step)],
  });
  expectSilent(rule, {
    subject,
    objects: [...deployment('web', { age: 9000, before: {} }), podOf('web', 'a')],
    series: [ratio(step)],
  });
});

test('timeouts since a rollout in whose minutes the network was renewed on the same nodes name nobody', () => {
  const agent = (name: string) => [
    object('DaemonSet', name, { namespace: 'kube-system' }),
    object('Pod', `${name}-1`, {
      namespace: 'kube-system',
      creationTimestamp: minutesAgo(33),
      ownerReferences: [{ kind: 'DaemonSet', name, uid: `uid-DaemonSet-${name}`, controller: true }],
      spec: { nodeName: 'node-1' },
    }),
  ];
  const timeouts = series('http_client_requests:timeout_ratio5m', { namespace: 'shop' }, step);
  const judged = (name: string, measured = timeouts) =>
    findingsOf(rule, { subject, objects: [...objects, ...agent(name)], series: [measured] })[0];
  for (const name of ['azure-cns', 'cilium', 'kube-proxy'])
    expect(judged(name)).toMatchObject({ owner: 'undetermined', strength: 'circumstantial' });
  expect(judged('fluent-bit')?.owner).toBe('app');
  expect(judged('cilium', ratio(step))?.owner).toBe('app');
});
