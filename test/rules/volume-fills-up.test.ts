import { expect, test } from 'vitest';
import rule from '../../src/rules/app/volume-fills-up.ts';
import { condition, event, expectSilent, findingsOf, now, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const seconds = Date.parse(now) / 1000;
const claim = (conditions: any[] = []) =>
  object('PersistentVolumeClaim', 'data', {
    namespace: 'shop',
    status: { capacity: { storage: '200Gi' }, conditions },
  });
const stat = (name: string, points: [number, number][]) => ({
  name: `kubelet_volume_stats_${name}_bytes`,
  labels: { namespace: 'shop', persistentvolumeclaim: 'data' },
  points: points.map(([minutes, value]) => [seconds - minutes * 60, value] as [number, number]),
});
const steep = [
  stat('available', [
    [3000, 100],
    [1500, 99],
    [1440, 98],
    [700, 40],
    [0, 4],
  ]),
  stat('capacity', [
    [3000, 200],
    [0, 200],
  ]),
];
const user = podOf('db', 'a', { spec: { nodeName: 'n', volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] } });
const subject = { kind: 'PersistentVolumeClaim', name: 'data', namespace: 'shop' };

test('the release at which the loss began is named; without one, what writes to it', () => {
  const writer = deployment('writer', {
    age: 1440,
    before: { container: { env: [{ name: 'RETENTION', value: '30' }] } },
  });
  const [released] = findingsOf(rule, {
    subject,
    objects: [claim(), user, ...deployment('db'), ...writer],
    series: steep,
  });
  expect(released).toMatchObject({ owner: 'app', boundary: 'storage', root: { name: 'writer' } });
  const [plain] = findingsOf(rule, {
    subject,
    objects: [claim(), user, ...deployment('db', { age: 90000 })],
    series: steep,
  });
  expect(plain).toMatchObject({ owner: 'app', root: { name: 'db' } });
});

test('the alert or the application’s own words suffice where no metric was read', () => {
  const alert = {
    status: 'firing' as const,
    labels: { alertname: 'KubePersistentVolumeFillingUp', persistentvolumeclaim: 'data' },
    annotations: {},
    startsAt: minutesAgo(10),
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint: 'f',
  };
  expect(findingsOf(rule, { subject, objects: [claim(), user], alerts: [alert] })[0]).toMatchObject({ owner: 'app' });
  const logs = [logOf(user, 'PANIC: could not write: No space left on device')];
  expect(findingsOf(rule, { subject, objects: [claim(), user, ...deployment('db')], logs })[0]?.owner).toBe('app');
});

test('silent for a volume with room, and where an expansion is refused', () => {
  expectSilent(rule, {
    subject,
    objects: [claim(), user],
    series: [stat('available', [[0, 90]]), stat('capacity', [[0, 200]])],
  });
  expectSilent(rule, { subject, objects: [claim([condition('ControllerResizeError', 'True')]), user], series: steep });
});

test('a volume that was enlarged a while ago and may not be again so soon fills by what is written to it', () => {
  const soon = condition('ControllerResizeError', 'True', '', 'api error VolumeModificationRateExceeded: wait');
  const events = [
    event(claim(), 'VolumeResizeFailed', 'api error VolumeModificationRateExceeded: Wait at least 6 hours'),
    event(claim(), 'FileSystemResizeSuccessful', 'MountVolume.NodeExpandVolume succeeded', { type: 'Normal' }),
  ];
  const [finding] = findingsOf(rule, {
    subject,
    objects: [claim([soon]), user, ...deployment('db', { age: 90000 }), ...events],
    series: steep,
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'storage' });
  const cited = JSON.stringify(finding?.evidence);
  expect(cited).toContain('VolumeModificationRateExceeded');
  expect(cited).toContain('FileSystemResizeSuccessful');
});
