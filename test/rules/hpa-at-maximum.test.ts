import { expect, test } from 'vitest';
import rule from '../../src/rules/app/hpa-at-maximum.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const hpa = (usage: number, current = 4) =>
  object('HorizontalPodAutoscaler', 'web', {
    namespace: 'shop',
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      maxReplicas: 4,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 70 } } }],
    },
    status: {
      currentReplicas: current,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: usage } } }],
      conditions: [
        condition(
          'ScalingLimited',
          current >= 4 ? 'True' : 'False',
          current >= 4 ? 'TooManyReplicas' : 'DesiredWithinRange',
        ),
      ],
    },
  });
const pods = ['a', 'b', 'c', 'd'].map((suffix) => podOf('web', suffix));
const subject = { kind: 'HorizontalPodAutoscaler', name: 'web', namespace: 'shop' };
const app = deployment('web', { replicas: 4 });

test('a cap below the need with every replica placed is the application’s', () => {
  const [finding] = findingsOf(rule, { subject, objects: [...app, ...pods, hpa(138)] });
  expect(finding).toMatchObject({ owner: 'app', state: 'fault', boundary: 'autoscaling', strength: 'direct' });
  expect(finding?.cause.en).toContain('197%');
});

test('a cap that suffices is expected, with a deadline', () => {
  const [finding] = findingsOf(rule, { subject, objects: [...app, ...pods, hpa(60)] });
  expect(finding).toMatchObject({ state: 'expected' });
  expect(finding?.deadline).toBeDefined();
});

test('stays silent where replicas wait for a node, and below the cap', () => {
  const waiting = podOf('web', 'e', { node: '' });
  waiting.status.phase = 'Pending';
  expectSilent(rule, { subject, objects: [...app, ...pods, waiting, hpa(138)] });
  expectSilent(rule, { subject, objects: [...app, ...pods, hpa(138, 3)] });
});
