import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/domain/kubernetes.ts';
import { templateChanges } from '../../../src/facts/changes/template-diff.ts';
import { ClusterFacts } from '../../../src/facts/cluster.ts';
import { podsOfRevision, rolloutOf } from '../../../src/facts/workloads/workloads.ts';
import { factsOf, object } from '../../rules/harness.ts';
import { deployment, minutesAgo } from '../../rules/workloads.ts';

const controlled = (kind: string) => [{ kind, name: 'db', uid: `uid-${kind}-db`, controller: true }];
const revision = (kind: string, number: number, image: string, age: number): KubeObject =>
  object('ControllerRevision', `db-hash${number}`, {
    apiVersion: 'apps/v1',
    namespace: 'shop',
    ownerReferences: controlled(kind),
    creationTimestamp: minutesAgo(age),
    revision: number,
    spec: { template: { spec: { containers: [{ name: 'db', image }] } } },
  });
const pod = (kind: string, name: string, hash: string) =>
  object('Pod', name, {
    namespace: 'shop',
    ownerReferences: controlled(kind),
    labels: { 'controller-revision-hash': hash },
  });
const factsWith = (objects: KubeObject[]) =>
  new ClusterFacts(factsOf({ subject: { kind: 'Namespace', name: 'shop' }, objects }));

test.each([
  ['StatefulSet', 'db-hash'],
  ['DaemonSet', 'hash'],
])('a %s tells its change of template by its ControllerRevisions, and which pod is of which', (kind, prefix) => {
  const workload = object(kind, 'db', { namespace: 'shop' });
  const facts = factsWith([
    workload,
    revision(kind, 1, 'db:1', 9000),
    revision(kind, 2, 'db:2', 20),
    pod(kind, 'db-0', `${prefix}1`),
    pod(kind, 'db-1', `${prefix}2`),
  ]);
  const rollout = rolloutOf(facts, workload)!;
  expect(rollout.at).toBe(minutesAgo(20));
  expect(templateChanges(rollout.previous!, rollout.current)).toEqual(['image db:1 → db:2']);
  expect(podsOfRevision(facts, rollout.current).map(({ metadata }) => metadata.name)).toEqual(['db-1']);
  expect(podsOfRevision(facts, rollout.previous!).map(({ metadata }) => metadata.name)).toEqual(['db-0']);
});

test('going back to a former revision happened at the write of the template, not when that revision was first made', () => {
  const [workload, newer, older] = deployment('web', { age: 60, before: {} }) as [KubeObject, KubeObject, KubeObject];
  older.metadata.annotations = { 'deployment.kubernetes.io/revision': '3' };
  workload.metadata.managedFields = [
    { manager: 'kubectl', time: minutesAgo(7), fieldsV1: { 'f:spec': { 'f:template': {} } } },
  ];
  const rollout = rolloutOf(factsWith([workload, newer, older]), workload)!;
  expect(rollout.current).toBe(older);
  expect(rollout.at).toBe(minutesAgo(7));
});
