import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/zonal-shift-active.ts';
import { at, node, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const zoned = node('n1', 'True', { labels: { 'topology.k8s.aws/zone-id': 'usw2-az1' } });
const subject = { kind: 'Pod', name: 'db-0', namespace: 'shop' } as const;
const waiting = (spec: object = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }] }) =>
  pod('db-0', undefined, {
    ready: 'False',
    spec,
    status: { conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available')] },
  });
const claim = object('PersistentVolumeClaim', 'data-db-0', { namespace: 'shop', spec: { volumeName: 'pv-1' } });
const volume = object('PersistentVolume', 'pv-1', {
  spec: {
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'topology.ebs.csi.aws.com/zone', operator: 'In', values: ['us-west-2a'] }] },
        ],
      },
    },
  },
});
const objects = [zoned, waiting(), claim, volume];
const shifts = (call: string, item: object) => [
  {
    call: `arc-zonal-shift.${call}`,
    answer: { items: [{ awayFrom: 'usw2-az1', status: 'ACTIVE', startTime: at('08:05'), ...item }] },
  },
];

test('AWS shifts away from the zone of the volume: the vendor', () => {
  const [finding] = findingsOf(rule, { subject, objects, cloud: shifts('listAutoshifts', {}) });
  expect(finding).toMatchObject({
    owner: 'cloud',
    strength: 'direct',
    boundary: 'zone',
    state: 'fault',
    onset: at('08:05'),
  });
  expect(finding!.cause.en).toContain('us-west-2a');
});

test('Karpenter’s own words pair the zone with the id of the autoshift', () => {
  const told = event(
    object('NodePool', 'default'),
    'ZonalShiftActive',
    'Zonal shift detected: offerings in zone us-west-2a (usw2-az9) are unavailable for this NodePool',
  );
  const cloud = shifts('listAutoshifts', { awayFrom: 'usw2-az9' });
  expect(findingsOf(rule, { subject, objects: [...objects, told], cloud })[0]).toMatchObject({ owner: 'cloud' });
});

test('a shift of the account is the platform’s, a practice run expected, one of the autoshift itself the vendor’s', () => {
  const of = (item: object) => findingsOf(rule, { subject, objects, cloud: shifts('listZonalShifts', item) })[0];
  expect(of({ comment: 'deploy test' })).toMatchObject({ owner: 'platform', state: 'fault' });
  expect(of({ shiftType: 'PRACTICE_RUN' })).toMatchObject({ state: 'expected', deadline: expect.any(String) });
  expect(of({ shiftType: 'ZONAL_AUTOSHIFT' })).toMatchObject({ owner: 'cloud' });
});

test('Karpenter’s word alone does not say who started it', () => {
  const pool = object('NodePool', 'general', { spec: {} });
  const message = 'Zonal shift detected: offerings in zone us-west-2a (usw2-az1) are unavailable for this NodePool';
  const active = event(pool, 'ZonalShiftActive', message, { source: 'karpenter' });
  expect(
    findingsOf(rule, { subject: { kind: 'NodePool', name: 'general' }, objects: [pool, zoned, active] })[0],
  ).toMatchObject({ owner: 'undetermined', missing: [{ fix: expect.stringContaining('ListAutoshifts') }] });
  const cleared = event(pool, 'ZonalShiftCleared', 'Zonal shift cleared in zone us-west-2a (usw2-az1)', {
    at: at('08:25'),
  });
  expectSilent(rule, { subject: { kind: 'NodePool', name: 'general' }, objects: [pool, zoned, active, cleared] });
});

test('stays silent on pods that any zone would do for, on another zone, and on a shift that has ended', () => {
  expectSilent(rule, { subject, objects: [zoned, waiting({})], cloud: shifts('listAutoshifts', {}) });
  expectSilent(rule, { subject, objects, cloud: shifts('listAutoshifts', { awayFrom: 'usw2-az2' }) });
  expectSilent(rule, { subject, objects, cloud: shifts('listAutoshifts', { status: 'COMPLETED' }) });
  expectSilent(rule, { subject, objects });
});
