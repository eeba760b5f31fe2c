import { expect, test } from 'vitest';
import rule from '../../src/rules/app/rollout-in-progress.ts';
import { alert } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { crashing, deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const alerts = [alert('KubeDeploymentReplicasMismatch', {}, 'has not matched the expected number of replicas')];
const rolling = (reason = 'ReplicaSetUpdated') =>
  deployment('web', {
    age: 9,
    before: {},
    meta: { status: { conditions: [{ ...condition('Progressing', 'True', reason), lastUpdateTime: minutesAgo(1) }] } },
  });
const done = podOf('web', 'a', { age: 6 });
const late = (rest = {}) => podOf('web', 'b', { ready: false, age: 2, ...rest });
const slowProbe = { readinessProbe: { initialDelaySeconds: 240, periodSeconds: 10 } };

test('a rollout whose last step is young, with pods that warm up as long as their probe allows', () => {
  const [finding] = findingsOf(rule, { subject, alerts, objects: [...rolling(), done, late()] });
  expect(finding).toMatchObject({ state: 'expected', strength: 'derived' });
  expect(finding?.deadline).toBeDefined();
  expect(
    findingsOf(rule, { subject, alerts, objects: [...rolling(), done, late({ age: 6, container: slowProbe })] }),
  ).toHaveLength(1);
});

test('stays silent where it does not move, a new pod fails, an old one is ill, or users feel it', () => {
  const silent = (...objects: Parameters<typeof findingsOf>[1]['objects'] & object) =>
    expectSilent(rule, { subject, alerts, objects });
  silent(...rolling(), done, late({ age: 30 }));
  silent(...rolling('NewReplicaSetAvailable'), done, late());
  silent(...rolling(), late());
  silent(...rolling(), done, late({ status: crashing(1) }));
  silent(...rolling(), done, podOf('web', 'c', { revision: 1, ready: false }));
  expectSilent(rule, {
    subject,
    alerts: [alert('WebErrors', {}, 'replicas of web answer 5xx errors')],
    objects: [...rolling(), done, late()],
  });
});
