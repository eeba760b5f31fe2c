import { expect, test } from 'vitest';
import rule from '../../src/rules/app/workload-recovered.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const alerts = (alertname: string) => [
  {
    status: 'firing' as const,
    labels: { alertname },
    annotations: {},
    startsAt: minutesAgo(15),
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint: 'f',
  },
];
const app = (status: object = {}) =>
  deployment('web', {
    meta: {
      status: {
        readyReplicas: 2,
        updatedReplicas: 2,
        observedGeneration: 1,
        conditions: [condition('Progressing', 'True', 'NewReplicaSetAvailable'), condition('Available', 'True')],
        ...status,
      },
    },
  });
const pods = (since: number, rest: Record<string, any> = {}) =>
  ['a', 'b'].map((suffix) => {
    const pod = podOf('web', suffix, rest);
    pod.status.conditions = [condition('Ready', 'True', '', '', minutesAgo(since))];
    return pod;
  });

test('all replicas are ready since the alert began: over', () => {
  for (const name of ['KubeDeploymentRolloutStuck', 'KubeDeploymentReplicasMismatch', 'KubePodNotReady'])
    expect(findingsOf(rule, { subject, alerts: alerts(name), objects: [...app(), ...pods(9)] })[0]).toMatchObject({
      state: 'over',
      boundary: null,
    });
});

test('silent for other alerts, short replicas, a restart just now, and a readiness older than the alert', () => {
  const objects = [...app(), ...pods(9)];
  expectSilent(rule, { subject, alerts: alerts('ShopErrorRateHigh'), objects });
  expectSilent(rule, { subject, objects });
  const named = alerts('KubeDeploymentReplicasMismatch');
  expectSilent(rule, { subject, alerts: named, objects: [...app({ readyReplicas: 1 }), ...pods(9)] });
  expectSilent(rule, { subject, alerts: named, objects: [...app(), pods(9)[0]!] });
  expectSilent(rule, { subject, alerts: named, objects: [...app(), ...pods(600)] });
  const crashed = { status: { lastState: { terminated: { finishedAt: minutesAgo(5), exitCode: 1 } } } };
  expectSilent(rule, { subject, alerts: named, objects: [...app(), ...pods(4, crashed)] });
});
