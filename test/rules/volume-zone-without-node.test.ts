import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/volume-zone-without-node.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { node, pool, refused, subjectOf, waiting } from './nodes.ts';

const volumeKey = {
  eks: 'topology.ebs.csi.aws.com/zone',
  aks: 'topology.disk.csi.azure.com/zone',
  gke: 'topology.gke.io/zone',
};
const situation = (message: string, key = volumeKey.eks) => {
  const pod = waiting('db-0', { message, spec: { volumes: [{ persistentVolumeClaim: { claimName: 'data-db-0' } }] } });
  return {
    pod,
    subject: subjectOf(pod),
    objects: [
      pod,
      object('PersistentVolumeClaim', 'data-db-0', {
        namespace: 'shop',
        spec: { volumeName: 'pv-1' },
        status: { phase: 'Bound' },
      }),
      object('PersistentVolume', 'pv-1', {
        spec: {
          nodeAffinity: {
            required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['us-west-2c'] }] }] },
          },
        },
      }),
      node('n1'),
    ],
  };
};

test('both wordings of the scheduler, every driver’s zone key', () => {
  for (const message of [
    '0/1 nodes are available: 1 node(s) had volume node affinity conflict.',
    "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.",
  ])
    for (const key of Object.values(volumeKey))
      expect(findingsOf(rule, situation(message, key))[0]).toMatchObject({
        owner: 'platform',
        strength: 'direct',
        root: { kind: 'PersistentVolume' },
      });
});

test('a pool that may not use the zone is named', () => {
  const own = situation('0/1 nodes are available: 1 node(s) had volume node affinity conflict.');
  const text =
    'incompatible with nodepool "default", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [us-west-2c] not in topology.kubernetes.io/zone In [us-west-2a]';
  const [finding] = findingsOf(rule, {
    ...own,
    objects: [...own.objects, pool('default', { zones: ['us-west-2a'] }), refused(own.pod, text)],
  });
  expect(finding?.cause.en).toContain('NodePool default may not use that zone');
});

test('Cluster Autoscaler’s refusal is cited', () => {
  const own = situation('0/1 nodes are available: 1 node(s) had volume node affinity conflict.');
  const said = event(
    own.pod,
    'NotTriggerScaleUp',
    "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 node(s) had volume node affinity conflict",
    { source: 'cluster-autoscaler' },
  );
  const [finding] = findingsOf(rule, { ...own, provider: 'aks', objects: [...own.objects, said] });
  expect(finding?.evidence.map((entry) => entry.text).join()).toContain("wouldn't fit");
});

test('silent where a pool can make a node in the zone; weaker where the vendor reports the zone', () => {
  const own = situation('0/1 nodes are available: 1 node(s) had volume node affinity conflict.');
  expectSilent(rule, { ...own, objects: [...own.objects, pool('default')] });
  const cloud = [
    { call: 'health.describeEvents', answer: { events: [{ statusCode: 'open', availabilityZone: 'us-west-2c' }] } },
  ] as any;
  expect(findingsOf(rule, { ...own, cloud })[0]?.strength).not.toBe('direct');
});
