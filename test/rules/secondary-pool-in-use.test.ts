import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/secondary-pool-in-use.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { launchFailed, node, pool, running } from './nodes.ts';

const subject = { kind: 'NodePool', name: 'fallback' };
const situation = (used: string, nodeSelector?: Record<string, string>) => {
  const owner = object('StatefulSet', 'store', { namespace: 'shop' });
  const own = [{ kind: 'StatefulSet', name: 'store', uid: owner.metadata.uid, controller: true }];
  return {
    subject,
    objects: [
      pool('default', { weight: 10, used: { cpu: used } }),
      pool('fallback', { weight: 1, labels: { tier: 'fallback' } }),
      node('n1', { pool: 'fallback' }),
      owner,
      running('store-0', 'n1', { ownerReferences: own, spec: { nodeSelector } }),
    ],
  };
};

test('pinned by label while the preferred pool has room: the workload’s owner', () => {
  expect(findingsOf(rule, situation('20', { tier: 'fallback' }))[0]).toMatchObject({
    owner: 'app',
    boundary: 'config',
    strength: 'direct',
  });
});

test('ordinary pods spill over from a full pool: the platform’s', () => {
  expect(findingsOf(rule, situation('100'))[0]).toMatchObject({
    owner: 'platform',
    root: { kind: 'NodePool', name: 'default' },
  });
});

test('silent where the preferred pool has room and nobody is pinned, and for the preferred pool itself', () => {
  expectSilent(rule, situation('20'));
  expectSilent(rule, { ...situation('100'), subject: { kind: 'NodePool', name: 'default' } });
});

test('the vendor has no machine for the preferred pool: the fallback serves; a quota is not the vendor’s shortage', () => {
  const claim = (code: string) => [
    object('NodeClaim', 'default-x', { labels: { 'karpenter.sh/nodepool': 'default' } }),
    launchFailed('default-x', `${code}: We currently do not have sufficient m7a.2xlarge capacity in us-west-2a`),
  ];
  const judged = (code: string) => {
    const { objects } = situation('20');
    return findingsOf(rule, { subject, objects: [...objects, ...claim(code)] })[0];
  };
  expect(judged('InsufficientInstanceCapacity')).toMatchObject({ owner: 'cloud', boundary: 'capacity' });
  expect(judged('VcpuLimitExceeded')).toBeUndefined();
});
