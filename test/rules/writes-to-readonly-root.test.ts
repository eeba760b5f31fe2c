import { expect, test } from 'vitest';
import rule from '../../src/rules/app/writes-to-readonly-root.ts';
import { at, log, owned, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'orders', namespace: 'shop' } as const;
const locked = { name: 'app', securityContext: { readOnlyRootFilesystem: true } };
const deployment = (container: object) =>
  object('Deployment', 'orders', { namespace: 'shop', spec: { template: { spec: { containers: [container] } } } });
const crashing = (container: object) =>
  pod('orders-1', 'n1', {
    ...owned('Deployment', 'orders'),
    ready: 'False',
    spec: { containers: [container] },
    status: {
      containerStatuses: [
        {
          name: 'app',
          restartCount: 4,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1, reason: 'Error', finishedAt: at('08:25') } },
        },
      ],
    },
  });
const of = (words: string, container: object = locked, template: object = container) =>
  findingsOf(rule, {
    subject,
    objects: [deployment(template), crashing(container)],
    logs: [log('orders-1', words, 'shop')],
  });

test.each([
  "OSError: [Errno 30] Read-only file system: '/app/cache'",
  'mkdir: cannot create directory ‘/var/run/app’: Read-only file system',
  "Error: EROFS: read-only file system, open '/app/.next/trace'",
  'open /tmp/app.pid: read-only file system',
])('its own setting forbids what it writes: %s', (words) => {
  expect(of(words)[0]).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
});

test('set at admission and not in the template: the platform’s policy', () => {
  expect(of('open /tmp/app.pid: read-only file system', locked, { name: 'app' })[0]).toMatchObject({
    owner: 'platform',
    boundary: 'admission',
  });
});

test('stays silent without the setting, about a mounted path, and on other words', () => {
  expect(of('open /tmp/app.pid: read-only file system', { name: 'app' })).toEqual([]);
  const mounts = { ...locked, volumeMounts: [{ name: 'data', mountPath: '/data' }] };
  expect(of('open /data/app.db: read-only file system', mounts)).toEqual([]);
  expect(of('connection refused')).toEqual([]);
  expectSilent(rule, { subject, objects: [deployment(locked), crashing(locked)] });
});
