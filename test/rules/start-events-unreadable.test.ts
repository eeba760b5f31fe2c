import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/start-events-unreadable.ts';
import { pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'api-1', namespace: 'secure' };
const creating = pod('api-1', 'n1', {
  namespace: 'secure',
  phase: 'Pending',
  ready: 'False',
  status: {
    phase: 'Pending',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [{ name: 'app', state: { waiting: { reason: 'ContainerCreating' } } }],
  },
});

test('names the missing permission, and blames nobody', () => {
  const [finding] = findingsOf(rule, { subject, objects: [creating], denied: ['events', 'persistentvolumeclaims'] });
  expect(finding).toMatchObject({ owner: 'undetermined', boundary: null });
  expect(finding?.missing.map((entry) => entry.missing)).toEqual([
    'cannot list events',
    'cannot list persistentvolumeclaims',
  ]);
});

test('stays silent when an event says why, and for images that fail', () => {
  expectSilent(rule, { subject, objects: [creating, event(creating, 'FailedMount', 'secret "x" not found')] });
  const pulling = pod('api-1', 'n1', {
    namespace: 'secure',
    status: {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [{ name: 'app', state: { waiting: { reason: 'ImagePullBackOff' } } }],
    },
  });
  expectSilent(rule, { subject, objects: [pulling], denied: ['events'] });
});
