import { expect, test } from 'vitest';
import rule from '../../src/rules/app/scaler-paused.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo } from './workloads.ts';

const subject = { kind: 'Namespace', name: 'shop', namespace: 'shop' };
const scaler = (annotations: Record<string, string>, manager = 'kubectl-annotate', minReplicaCount?: number) => {
  const made = object('ScaledObject', 'web', {
    namespace: 'shop',
    annotations,
    spec: { scaleTargetRef: { name: 'web' }, minReplicaCount },
    status: { conditions: [condition('Paused', 'True', 'ScaledObjectPaused', 'ScaledObject is paused')] },
  });
  made.metadata.managedFields = [{ manager, operation: 'Update', time: minutesAgo(600) }];
  return made;
};
const paused = { 'autoscaling.keda.sh/paused-replicas': '0' };

test('a pause that leaves fewer than the minimum is named with who wrote it', () => {
  const own = scaler(paused, 'kubectl-annotate', 1);
  const said = event(own, 'ScaledObjectPaused', 'ScaledObject is paused, stop scaling', { type: 'Normal' });
  const [finding] = findingsOf(rule, { subject, objects: [...deployment('web', { replicas: 0 }), own, said] });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'autoscaling', strength: 'direct' });
  expect(finding?.cause.en).toContain('kubectl-annotate');
  for (const [annotations, manager, owner] of [
    [{ 'autoscaling.keda.sh/paused': 'true' }, 'shop-ci', 'app'],
    [{ 'autoscaling.keda.sh/paused-scale-out': 'true' }, 'kubectl-edit', 'app'],
    [paused, 'platform-maintenance', 'platform'],
  ] as const)
    expect(
      findingsOf(rule, {
        subject,
        objects: [...deployment('web', { replicas: 1 }), scaler(annotations, manager, 4)],
      })[0]?.owner,
    ).toBe(owner);
});

test('silent without a pause, where it holds enough, and for another workload', () => {
  const still = (annotations: Record<string, string>, replicas: number) =>
    expectSilent(rule, {
      subject,
      objects: [...deployment('web', { replicas }), scaler(annotations, 'kubectl-annotate', 2)],
    });
  still({}, 0);
  still({ 'autoscaling.keda.sh/paused': 'false' }, 0);
  still({ 'autoscaling.keda.sh/paused-replicas': '5' }, 5);
  expectSilent(rule, {
    subject: { kind: 'Deployment', name: 'other', namespace: 'shop' },
    objects: [...deployment('web', { replicas: 0 }), ...deployment('other'), scaler(paused)],
  });
});
