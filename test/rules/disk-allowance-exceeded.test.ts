import { expect, test } from 'vitest';
import rule from '../../src/rules/app/disk-allowance-exceeded.ts';
import { at, node, owned, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'StatefulSet', name: 'db', namespace: 'shop' } as const;
const set = object('StatefulSet', 'db', { namespace: 'shop' });
const home = node('n1', 'True', { labels: { 'node.kubernetes.io/instance-type': 'm7i.large' } });
const db = pod('db-0', 'n1', {
  ...owned('StatefulSet', 'db'),
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }] },
});
const claim = object('PersistentVolumeClaim', 'data-db-0', { namespace: 'shop', spec: { volumeName: 'pv-1' } });
const volume = object('PersistentVolume', 'pv-1', {
  spec: { csi: { volumeHandle: 'vol-0ab1' }, claimRef: { namespace: 'shop', name: 'data-db-0' } },
});
const objects = [set, home, db, claim, volume];
const metric = (name: string, values: number[], VolumeId = 'vol-0ab1') => [
  {
    namespace: 'AWS/EBS',
    metric: name,
    dimensions: { VolumeId },
    stat: 'Maximum',
    periodSeconds: 60,
    points: values.map((value, index): [string, number] => [at(`08:${20 + index}`), value]),
  },
];

test.each([
  ['VolumeIOPSExceededCheck', [1, 1, 1, 1]],
  ['VolumeThroughputExceededCheck', [0, 1, 1, 1]],
  ['BurstBalance', [4, 0, 0, 0]],
])('%s: whoever owns the workload on the volume', (name, values) => {
  expect(findingsOf(rule, { subject, objects, cloudWatch: metric(name, values) })[0]).toMatchObject({
    owner: 'app',
    boundary: 'storage',
    root: { kind: 'PersistentVolume' },
  });
});

test('the machine’s allowance for all its disks is the platform’s choice, and only a hint', () => {
  const said = event(home, 'EBSInstanceIOPSExceeded', 'Instance-level IOPS limit exceeded', {
    source: 'eks-node-monitoring-agent',
  });
  expect(findingsOf(rule, { subject, objects: [...objects, said] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'circumstantial',
  });
});

test('stays silent on another volume, a single minute, a full balance, and where the cluster is the subject', () => {
  expectSilent(rule, { subject, objects, cloudWatch: metric('VolumeIOPSExceededCheck', [1, 1, 1, 1], 'vol-0ff0') });
  expectSilent(rule, { subject, objects, cloudWatch: metric('VolumeIOPSExceededCheck', [0, 1, 0, 0]) });
  expectSilent(rule, { subject, objects, cloudWatch: metric('BurstBalance', [99, 98, 97, 96]) });
  expectSilent(rule, {
    subject: { kind: 'Cluster' },
    objects,
    cloudWatch: metric('VolumeIOPSExceededCheck', [1, 1, 1, 1]),
  });
});
