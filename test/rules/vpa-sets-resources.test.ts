import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/vpa-sets-resources.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const subject = { kind: 'StatefulSet', name: 'store', namespace: 'shop' };
const store = object('StatefulSet', 'store', { namespace: 'shop', spec: { replicas: 1 } });
const pod = (vpaUpdates: string | undefined, status: any) =>
  object('Pod', 'store-0', {
    namespace: 'shop',
    annotations: vpaUpdates ? { vpaUpdates } : undefined,
    ownerReferences: [{ kind: 'StatefulSet', name: 'store', uid: 'uid-StatefulSet-store', controller: true }],
    spec: { containers: [{ name: 'main', resources: { limits: { memory: '256Mi' } } }] },
    status,
  });
const killed = {
  phase: 'Running',
  containerStatuses: [
    {
      name: 'main',
      restartCount: 7,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: minutesAgo(4) } },
    },
  ],
};
const unplaced = {
  phase: 'Pending',
  conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available: 3 Insufficient memory.')],
};
const scaler = (manager?: string) => {
  const made = object('VerticalPodAutoscaler', 'store', {
    namespace: 'shop',
    spec: { targetRef: { kind: 'StatefulSet', name: 'store' }, updatePolicy: { updateMode: 'Auto' } },
  });
  if (manager)
    made.metadata.managedFields = [
      { manager, operation: 'Update', time: minutesAgo(80), fieldsV1: { 'f:spec': { 'f:updatePolicy': {} } } },
    ];
  return made;
};
const words = 'Pod resources updated by store: container 0: memory request, memory limit';

test('a limit too small and a request too large are those of who wrote the VPA', () => {
  for (const status of [killed, unplaced]) {
    const objects = [store, pod(words, status)];
    expect(findingsOf(rule, { subject, objects: [...objects, scaler('platform-rightsizer')] })[0]).toMatchObject({
      owner: 'platform',
      boundary: 'autoscaling',
      strength: 'derived',
    });
    expect(findingsOf(rule, { subject, objects: [...objects, scaler()] })[0]).toMatchObject({ owner: 'app' });
  }
});

test('a controller of the cluster is the platform’s; the team’s own operator or deliverer is not', () => {
  const ownerBy = (manager: string) =>
    findingsOf(rule, { subject, objects: [store, pod(words, killed), scaler(manager)] })[0]?.owner;
  for (const manager of ['rightsizing-controller', 'goldilocks', 'capacity-operator'])
    expect(ownerBy(manager)).toBe('platform');
  for (const manager of ['shop-operator', 'helm-controller', 'argocd-controller', 'kubectl-edit'])
    expect(ownerBy(manager)).toBe('app');
});

test('silent for a pod that no VPA changed, and for a healthy one', () => {
  expectSilent(rule, { subject, objects: [store, pod(undefined, killed), scaler('platform-rightsizer')] });
  expectSilent(rule, { subject, objects: [store, pod(words, { phase: 'Running' }), scaler()] });
});
