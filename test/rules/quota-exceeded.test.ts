import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/quota-exceeded.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const app = deployment('web');
const set = app[1]!;
const refusal = (quota: string, used = 'requests.cpu=10') =>
  event(
    set,
    'FailedCreate',
    `Error creating: pods "web-x" is forbidden: exceeded quota: ${quota}, requested: requests.cpu=2, used: ${used}, limited: requests.cpu=10`,
    { source: 'replicaset-controller' },
  );
const quota = (name: string, manager?: string, labels?: Record<string, string>) => {
  const made = object('ResourceQuota', name, {
    namespace: 'shop',
    labels,
    spec: { hard: { 'requests.cpu': '10' } },
    status: { used: { 'requests.cpu': '10' } },
  });
  if (manager)
    made.metadata.managedFields = [
      {
        manager: 'tenancy-operator',
        operation: 'Apply',
        time: '2026-01-01T00:00:00Z',
        fieldsV1: { 'f:spec': { 'f:hard': {} } },
      },
      { manager, operation: 'Apply', time: '2026-11-19T00:00:00Z', fieldsV1: { 'f:spec': { 'f:hard': {} } } },
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        time: '2026-11-20T08:00:00Z',
        fieldsV1: { 'f:status': {} },
      },
    ];
  return made;
};
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };

test("the same text has another owner by the quota's last writer", () => {
  const judged = (manager?: string, labels?: Record<string, string>) =>
    findingsOf(rule, { subject, objects: [...app, refusal('compute'), quota('compute', manager, labels)] })[0];
  expect(judged('shop-release-pipeline')).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'quota' });
  expect(judged('shop-release-pipeline')?.contributing[0]?.owner).toBe('platform');
  expect(judged('platform-tenancy')).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(judged(undefined, { 'app.kubernetes.io/managed-by': 'capsule' })).toMatchObject({ owner: 'platform' });
  expect(judged('kubectl-edit')).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test("a vendor's quota object that counts pods nobody has is the vendor's", () => {
  const pods = [podOf('web', 'a'), podOf('web', 'b')];
  const found = findingsOf(rule, {
    subject,
    provider: 'gke',
    read: ['pods'],
    objects: [...app, ...pods, refusal('gke-resource-quotas', 'pods=15k'), quota('gke-resource-quotas')],
  });
  expect(found[0]).toMatchObject({ owner: 'cloud' });
});

test('stays silent when the template lacks requests, and for refusals that ended', () => {
  expectSilent(rule, {
    subject,
    objects: [
      ...app,
      event(
        set,
        'FailedCreate',
        'Error creating: pods "x" is forbidden: failed quota: compute: must specify limits.memory for: app',
      ),
    ],
  });
  expectSilent(rule, { subject, objects: [...app, { ...refusal('compute'), lastTimestamp: '2026-11-20T05:00:00Z' }] });
});
