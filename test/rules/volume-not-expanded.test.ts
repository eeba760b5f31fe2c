import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/volume-not-expanded.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const claim = (asked: string, conditions: any[] = []) =>
  object('PersistentVolumeClaim', 'data', {
    namespace: 'shop',
    spec: { resources: { requests: { storage: asked } } },
    status: { capacity: { storage: '100Gi' }, conditions },
  });
const subject = { kind: 'PersistentVolumeClaim', name: 'data', namespace: 'shop' };
const refused = (message: string, at = minutesAgo(5)) => event(claim('200Gi'), 'VolumeResizeFailed', message, { at });

test('the refusal of an expansion, and an error of the vendor', () => {
  for (const message of [
    'UnauthorizedOperation: not authorized to perform ec2:ModifyVolume',
    'quota SSD_TOTAL_GB exceeded',
  ])
    expect(findingsOf(rule, { subject, objects: [claim('200Gi'), refused(message)] })[0]).toMatchObject({
      owner: 'platform',
      boundary: 'storage',
      strength: 'direct',
    });
  expect(findingsOf(rule, { subject, objects: [claim('200Gi'), refused('rpc error: InternalError')] })[0]?.owner).toBe(
    'cloud',
  );
  const stated = claim('200Gi', [condition('ControllerResizeError', 'True', '', 'rpc error: OutOfRange')]);
  expect(findingsOf(rule, { subject, objects: [stated] })[0]?.owner).toBe('platform');
});

test('silent where the size was reached, or the refusal is long past', () => {
  expectSilent(rule, { subject, objects: [claim('100Gi'), refused('x')] });
  expectSilent(rule, { subject, objects: [claim('200Gi'), refused('x', minutesAgo(300))] });
});

test('a second change within the waiting time is no fault of the driver, and whoever asked is named without certainty', () => {
  for (const message of [
    'VolumeModificationRateExceeded: You have reached the maximum modification rate per volume limit. Wait at least 6 hours',
    'IncorrectModificationState: volume vol-1 is still optimizing',
  ])
    expect(findingsOf(rule, { subject, objects: [claim('200Gi'), refused(message)] })[0]).toMatchObject({
      owner: 'app',
      strength: 'circumstantial',
    });
});
