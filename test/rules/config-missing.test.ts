import { expect, test } from 'vitest';
import rule from '../../src/rules/app/config-missing.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const waiting = (message: string) => ({
  ready: false,
  state: { waiting: { reason: 'CreateContainerConfigError', message } },
});
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = deployment('web', { before: {} });

test('a reference to what does not exist is the owner’s, as waiting reason or as failed mount', () => {
  for (const message of [
    'configmap "web-settings" not found',
    'secret "db" not found',
    `couldn't find key PASSWORD in Secret shop/db`,
  ]) {
    const [finding] = findingsOf(rule, {
      subject,
      objects: [...app, podOf('web', 'a', { ready: false, status: waiting(message) })],
    });
    expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
  }
  const pod = podOf('web', 'b', { ready: false });
  const mount = event(
    pod,
    'FailedMount',
    'MountVolume.SetUp failed for volume "settings" : configmap "web-settings" not found',
  );
  expect(findingsOf(rule, { subject, objects: [...app, pod, mount] })[0]?.evidence[0]?.text).toContain(
    'configmap "web-settings" not found',
  );
});

test('secrets that several namespaces lack point at what should write them', () => {
  const other = podOf('api', 'a', {
    namespace: 'billing',
    ready: false,
    status: waiting('secret "registry" not found'),
  });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [
      ...app,
      podOf('web', 'a', { ready: false, status: waiting('secret "registry" not found') }),
      ...deployment('api', { namespace: 'billing' }),
      other,
    ],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('stays silent for the harmless race, and for pods that got ready', () => {
  const pod = podOf('web', 'a', { ready: false });
  expectSilent(rule, {
    subject,
    objects: [
      ...app,
      pod,
      event(
        pod,
        'FailedMount',
        'MountVolume.SetUp failed for volume "x" : object "shop"/"web-settings" not registered',
      ),
    ],
  });
  const ready = podOf('web', 'b');
  expectSilent(rule, {
    subject,
    objects: [...app, ready, event(ready, 'FailedMount', 'configmap "web-settings" not found')],
  });
});
