import { expect, test } from 'vitest';
import rule from '../../src/rules/app/shared-store-refuses.ts';
import { log, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'api-1', namespace: 'shop' };
const api = pod('api-1', 'n1', { ready: 'False' });
const store = (namespace: string, labels = {}) => pod('store-0', 'n1', { namespace, labels });
const situation = (server: string, client: string, labels = {}, namespace = 'messaging') => ({
  subject,
  objects: [api, store(namespace, labels)],
  logs: [log('store-0', server, namespace), log('api-1', client, 'shop')],
});

test('a broker, an index, a cache and a database by their own words, owned by whoever runs them', () => {
  const cases = [
    [
      'disk resource limit alarm set on node rabbit@rabbit-0',
      'connection.blocked received from broker: low on disk',
      'storage',
    ],
    [
      'memory resource limit alarm set on node rabbit@rabbit-0',
      'publisher blocked by broker: low on memory',
      'application',
    ],
    [
      'flood stage disk watermark [95%] exceeded on [x]',
      'cluster_block_exception: index [a] blocked by: [FORBIDDEN/12/index]',
      'storage',
    ],
    ['# Background saving error', 'MISCONF Redis is configured to save RDB snapshots', 'storage'],
    [
      'PANIC: could not extend file "base/1": No space left on device',
      'ERROR: could not extend file: No space left on device',
      'storage',
    ],
    ['[INFO] core: vault is sealed', 'Code: 503. Errors: * Vault is sealed', 'config'],
  ] as const;
  for (const [server, client, boundary] of cases) {
    const platform = situation(server, client, { team: 'platform' });
    expect(findingsOf(rule, platform)[0]).toMatchObject({ owner: 'platform', boundary, strength: 'direct' });
    expect(findingsOf(rule, situation(server, client, { team: 'payments' }))[0]).toMatchObject({ owner: 'app' });
  }
});

test('of two stores in that state, the one that the client names', () => {
  const base = situation('disk resource limit alarm set', 'connection.blocked: amqp://store-0.messaging:5672');
  const other = pod('store-0', 'n1', { namespace: 'billing' });
  const found = findingsOf(rule, {
    ...base,
    objects: [other, ...base.objects],
    logs: [log('store-0', 'disk resource limit alarm set', 'billing'), ...base.logs],
  });
  expect(found[0]?.root).toMatchObject({ namespace: 'messaging' });
});

test('silent without the store’s word, without the client’s, and for the subject’s own full disk', () => {
  expectSilent(rule, situation('Server startup complete', 'connection.blocked'));
  expectSilent(rule, situation('disk resource limit alarm set', 'publish timed out'));
  expectSilent(rule, { ...situation('ready', 'no space left on device'), objects: [api] });
});
