import { expect, test } from 'vitest';
import rule from '../../src/rules/app/scaler-check-failed.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const scaler = (namespace = 'shop') =>
  object('ScaledObject', 'web', {
    namespace,
    uid: `uid-so-${namespace}`,
    spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'prometheus' }] },
  });
const failed = (of = scaler()) =>
  event(of, 'KEDAScalerFailed', 'error requesting metrics endpoint: dial tcp: lookup prom.shop: no such host', {
    source: 'keda-operator',
  });
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = [...deployment('web'), podOf('web', 'a')];

test('one failing trigger is its owner’s, failing triggers of several namespaces are the platform’s', () => {
  expect(findingsOf(rule, { subject, objects: [...app, scaler(), failed()] })[0]).toMatchObject({
    owner: 'app',
    boundary: 'autoscaling',
  });
  const other = scaler('billing');
  expect(findingsOf(rule, { subject, objects: [...app, scaler(), failed(), other, failed(other)] })[0]?.owner).toBe(
    'platform',
  );
});

test('stays silent for a ScaledObject that works', () => {
  expectSilent(rule, { subject, objects: [...app, scaler()] });
});
