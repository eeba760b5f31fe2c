import { describe, expect, test } from 'vitest';
import type { ReadRecord } from '../../src/domain/facts.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import { event, factsOf, object } from '../rules/harness.ts';

const subject = { kind: 'Pod', name: 'web-6f7-a', namespace: 'shop' };
const deployment = object('Deployment', 'web', { apiVersion: 'apps/v1', namespace: 'shop' });
const replicaSet = object('ReplicaSet', 'web-6f7', {
  apiVersion: 'apps/v1',
  namespace: 'shop',
  ownerReferences: [{ kind: 'Deployment', name: 'web', uid: deployment.metadata.uid, controller: true }],
});
const pod = object('Pod', 'web-6f7-a', {
  namespace: 'shop',
  ownerReferences: [{ kind: 'ReplicaSet', name: 'web-6f7', uid: replicaSet.metadata.uid, controller: true }],
});

describe('owners', () => {
  test('lead from a pod to the workload that a person would name, and back', () => {
    const facts = new ClusterFacts(factsOf({ subject, objects: [pod, replicaSet, deployment] }));
    expect(facts.workloadOf(pod)).toBe(deployment);
    expect(facts.podsOf(deployment)).toEqual([pod]);
  });

  test('are found by name where ReplicaSets could not be read', () => {
    const facts = new ClusterFacts(factsOf({ subject, objects: [pod, deployment] }));
    expect(facts.workloadOf(pod)).toBe(deployment);
    expect(facts.podsOf(deployment)).toEqual([pod]);
  });

  test('are not made up: without a Deployment of that name the ReplicaSet stands for itself', () => {
    const facts = new ClusterFacts(factsOf({ subject, objects: [pod] }));
    expect(facts.workloadOf(pod)).toMatchObject({ kind: 'ReplicaSet', metadata: { name: 'web-6f7' } });
  });
});

describe('events', () => {
  const old = event(pod, 'Killing', 'Stopping container web', { name: 'old' });
  old.involvedObject = { ...old.involvedObject, uid: 'uid-of-the-pod-before' };

  test('of a former object of the same name are not the present one’s', () => {
    const facts = new ClusterFacts(
      factsOf({ subject, objects: [pod, old, event(pod, 'BackOff', 'Back-off restarting')] }),
    );
    expect(facts.eventsAbout(pod).map(({ reason }) => reason)).toEqual(['BackOff']);
  });

  test('of a node are its own whatever uid the kubelet gave', () => {
    const node = object('Node', 'n1', { uid: 'real-uid' });
    const said = ['n1', ''].map((uid, i) => {
      const one = event(node, 'NodeNotReady', `Node n1 status is now: NodeNotReady${i}`);
      return { ...one, involvedObject: { ...one.involvedObject, uid } };
    });
    const facts = new ClusterFacts(factsOf({ subject, objects: [node, ...said] }));
    expect(facts.eventsAbout(node)).toHaveLength(2);
  });
});

test('the order of objects changes nothing', () => {
  const objects = [pod, replicaSet, deployment];
  const one = new ClusterFacts(factsOf({ subject, objects }));
  const other = new ClusterFacts(factsOf({ subject, objects: objects.toReversed() }));
  expect(other.all('Pod')).toEqual(one.all('Pod'));
  expect(other.kinds).toEqual(one.kinds);
});

test('a denied read is a gap, an empty one is not', () => {
  const facts = new ClusterFacts(factsOf({ subject, read: ['pods'], denied: ['events'] }));
  expect(facts.wasRead('pods')).toBe(true);
  expect(facts.gapOf('pods')).toBeUndefined();
  expect(facts.gapOf('events')).toMatchObject({ reason: 'forbidden', fix: 'grant list events' });
  expect(facts.gapOf('nodes')).toBeUndefined();
});

describe('a node’s claim', () => {
  const node = { ...object('Node', 'n1'), spec: { providerID: 'aws:///us-west-2a/i-1' } };
  const claim = (name: string, status: object) => ({ ...object('NodeClaim', name), status });
  const claimOf = (...claims: ReturnType<typeof claim>[]) =>
    new ClusterFacts(factsOf({ subject, objects: [node, ...claims] })).claimOf(node)?.metadata.name;

  test('is found by the node’s name, else by the instance', () => {
    expect(claimOf(claim('a', { nodeName: 'n2' }), claim('b', { nodeName: 'n1' }))).toBe('b');
    expect(claimOf(claim('a', {}), claim('b', { providerID: 'aws:///us-west-2a/i-1' }))).toBe('b');
  });

  test('is not guessed where neither is known', () => {
    expect(claimOf(claim('a', {}), claim('b', { providerID: 'aws:///us-west-2a/i-2' }))).toBeUndefined();
  });
});

test('series come in one order, and by labels', () => {
  const series = ['b', 'a'].map((pod) => ({ name: 'up', labels: { pod }, points: [] as [number, number][] }));
  const facts = new ClusterFacts({ ...factsOf({ subject }), series });
  expect(facts.series('up').map(({ labels }) => labels.pod)).toEqual(['a', 'b']);
  expect(facts.series('up', { pod: 'b' })).toEqual([series[0]]);
  expect(facts.seriesLike(/^u/).map(({ labels }) => labels.pod)).toEqual(['a', 'b']);
  expect(facts.series('down')).toEqual([]);
});

test('which gap is told does not depend on the order in which layers read', () => {
  const refused = (namespace: string, message: string): ReadRecord => ({
    source: 'kubernetes',
    what: 'events',
    namespace,
    complete: false,
    count: 0,
    gap: { reason: 'forbidden', message, fix: 'grant it' },
  });
  const reads = [refused('b', 'two'), refused('a', 'one'), refused('a', 'another')];
  const told = (order: ReadRecord[]) =>
    new ClusterFacts({ ...factsOf({ subject }), reads: order }).gapOf('events')?.message;
  expect(told(reads)).toBe('another');
  expect(told(reads.toReversed())).toBe('another');
});
