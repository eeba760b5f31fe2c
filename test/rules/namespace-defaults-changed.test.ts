import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/namespace-defaults-changed.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { crashing, deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = deployment('web', { age: 60 * 24 * 20 });
const small = { resources: { requests: { cpu: '1800m', memory: '256Mi' }, limits: { memory: '256Mi' } } };
const large = { resources: { requests: { cpu: '250m', memory: '768Mi' }, limits: { memory: '1536Mi' } } };
const range = (manager: string, age: number) => {
  const made = object('LimitRange', 'defaults', { namespace: 'shop', spec: { limits: [{ type: 'Container' }] } });
  made.metadata.managedFields = [
    { manager, operation: 'Apply', time: minutesAgo(age), fieldsV1: { 'f:spec': { 'f:limits': {} } } },
  ];
  return made;
};
const elder = podOf('web', 'old', { age: 60 * 24, container: large });
const killed = podOf('web', 'a', {
  age: 50,
  ready: false,
  container: small,
  status: {
    ...crashing(137, 'OOMKilled'),
    lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: minutesAgo(3) } },
  },
});
const waiting = podOf('web', 'b', { age: 50, ready: false, container: small });
waiting.spec.nodeName = undefined;
waiting.status = { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes')] };

test('new pods differ from their elders since the defaults changed; the last writer owns them', () => {
  const judged = (manager: string) =>
    findingsOf(rule, { subject, objects: [...app, range(manager, 60), elder, killed, waiting] })[0];
  expect(judged('platform-tenancy-controller')).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(judged('shop-deployer')).toMatchObject({ owner: 'app', strength: 'direct' });
  expect(judged('kustomize')).toMatchObject({ owner: 'platform', strength: 'derived' });
  const [alone] = findingsOf(rule, { subject, objects: [...app, range('platform-tenancy', 60), waiting] });
  expect(alone).toMatchObject({ owner: 'platform', strength: 'derived', boundary: 'config' });
});

test('silent where the template came later, sets its resources, or nothing differs', () => {
  expectSilent(rule, {
    subject,
    objects: [...deployment('web', { age: 55 }), range('platform-tenancy', 60), elder, killed],
  });
  expectSilent(rule, {
    subject,
    objects: [...deployment('web', { age: 60 * 24 * 20, container: small }), range('platform-tenancy', 60), killed],
  });
  const same = podOf('web', 'old', { age: 60 * 24, container: small });
  expectSilent(rule, { subject, objects: [...app, range('platform-tenancy', 60), same, killed] });
});
