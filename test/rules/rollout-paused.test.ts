import { expect, test } from 'vitest';
import rule from '../../src/rules/app/rollout-paused.ts';
import { at } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'orders', namespace: 'shop' } as const;
const deployment = (spec: object, status: object, rest: Record<string, any> = {}) =>
  object('Deployment', 'orders', { namespace: 'shop', spec: { replicas: 3, ...spec }, status, ...rest });

test('a paused rollout that holds its template back, and who paused it', () => {
  const paused = deployment(
    { paused: true },
    {
      updatedReplicas: 1,
      conditions: [condition('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused')],
    },
  );
  paused.metadata.managedFields = [
    { manager: 'kubectl-rollout', operation: 'Update', time: at('07:40'), fieldsV1: { 'f:spec': { 'f:paused': {} } } },
  ];
  const [finding] = findingsOf(rule, { subject, objects: [paused] });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', onset: at('07:40') });
  expect(finding!.cause.en).toContain('1 of 3');
});

test('a platform’s Deployment is the platform’s; a canary tool makes it doubtful', () => {
  const own = object('Deployment', 'coredns', {
    namespace: 'kube-system',
    spec: { replicas: 2, paused: true },
    status: { updatedReplicas: 0 },
  });
  expect(
    findingsOf(rule, { subject: { kind: 'Deployment', name: 'coredns', namespace: 'kube-system' }, objects: [own] })[0],
  ).toMatchObject({ owner: 'platform' });
  const canary = deployment({ paused: true }, { updatedReplicas: 0 }, { labels: { 'flagger.app/managed': 'true' } });
  expect(findingsOf(rule, { subject, objects: [canary] })[0]).toMatchObject({ strength: 'circumstantial' });
});

test('stays silent where nothing is held back, and where the rollout goes on', () => {
  expectSilent(rule, { subject, objects: [deployment({ paused: true }, { updatedReplicas: 3 })] });
  expectSilent(rule, { subject, objects: [deployment({}, { updatedReplicas: 1 })] });
});
