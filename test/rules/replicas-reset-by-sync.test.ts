import { expect, test } from 'vitest';
import rule from '../../src/rules/app/replicas-reset-by-sync.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const deployment = (manager: string, minutes: number) => {
  const made = object('Deployment', 'web', { namespace: 'shop', spec: { replicas: 14 } });
  made.metadata.managedFields = [
    { manager, operation: 'Apply', time: minutesAgo(minutes), fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
  ];
  return made;
};
const scaler = object('HorizontalPodAutoscaler', 'web', {
  namespace: 'shop',
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, minReplicas: 4, maxReplicas: 30 },
  status: { desiredReplicas: 14 },
});
const cut = (minutes: number) =>
  event(
    object('Deployment', 'web', { namespace: 'shop' }),
    'ScalingReplicaSet',
    'Scaled down replica set web-1 from 14 to 2',
    {
      type: 'Normal',
      at: minutesAgo(minutes),
      name: `cut-${minutes}`,
    },
  );

test('each apply of a manifest with replicas cuts what the autoscaler scaled', () => {
  for (const manager of ['argocd-controller', 'kustomize-controller', 'helm', 'kubectl-client-side-apply'])
    expect(findingsOf(rule, { subject, objects: [deployment(manager, 11), scaler, cut(11)] })[0]).toMatchObject({
      owner: 'app',
      boundary: 'config',
      cause: { en: expect.stringContaining('to 2 from 14') },
    });
});

test('silent where the autoscaler ordered it, nobody applied at that time, or none scales it', () => {
  const ordered = event(scaler, 'SuccessfulRescale', 'New size: 2; reason: All metrics below target', {
    type: 'Normal',
    at: minutesAgo(11),
  });
  expectSilent(rule, { subject, objects: [deployment('helm', 11), scaler, cut(11), ordered] });
  expectSilent(rule, { subject, objects: [deployment('helm', 600), scaler, cut(11)] });
  expectSilent(rule, { subject, objects: [deployment('helm', 11), cut(11)] });
});
