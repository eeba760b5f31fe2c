import { expect, test } from 'vitest';
import rule from '../../src/rules/app/dependency.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { crashing, deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const pod = podOf('web', 'a', { ready: false });
const app = deployment('web');
const judged = (line: string, more: ReturnType<typeof object>[] = [], cloud: any[] = [], logs: any[] = []) =>
  findingsOf(rule, {
    subject,
    objects: [...app, pod, ...more],
    logs: [logOf(pod, `2026-11-20T08:25:00Z ERROR ${line}`), ...logs],
    cloud,
  })[0];

test('a name that does not exist is in the hands of who calls it', () => {
  for (const line of [
    'dial tcp: lookup old-mq.example.org on 10.100.0.10:53: no such host',
    'Error: getaddrinfo ENOTFOUND old-mq.example.org',
  ])
    expect(judged(line)).toMatchObject({ owner: 'app', boundary: 'config', strength: 'derived' });
  const gone = judged(
    'lookup b-1-gone.mq.us-west-2.amazonaws.com on 10.100.0.10:53: no such host',
    [],
    [{ call: 'mq.listBrokers', answer: { BrokerSummaries: [{ BrokerId: 'b-9' }] } }],
  );
  expect(gone?.strength).toBe('direct');
  expect(gone?.evidence.some((entry) => entry.source === 'aws')).toBe(true);
  expect(judged('java.net.UnknownHostException: old-mq.example.org')?.strength).toBe('circumstantial');
});

test('names that fail for others too, or that resolve at times, are the resolver’s', () => {
  const other = podOf('api', 'b', { namespace: 'billing' });
  const objects = [...deployment('api', { namespace: 'billing' }), other];
  const failing = logOf(other, '2026-11-20T08:25:00Z ERROR lookup pay.example.org on 10.100.0.10:53: no such host');
  expect(judged('lookup old-mq.example.org on 10.100.0.10:53: no such host', objects, [], [failing])).toBeUndefined();
  expect(
    judged('lookup old-mq.example.org: no such host\n2026-11-20T08:26:00Z WARN Temporary failure in name resolution'),
  ).toBeUndefined();
});

test('a peer in the cluster without a ready pod is its own owner’s matter', () => {
  const cache = podOf('cache', 'x', { namespace: 'data', ready: false, status: crashing(137, 'OOMKilled') });
  const service = object('Service', 'cache', {
    namespace: 'data',
    spec: { selector: { app: 'cache' }, ports: [{ port: 6379 }] },
  });
  const finding = judged('connect to cache.data.svc.cluster.local:6379 failed: connection refused', [
    ...deployment('cache', { namespace: 'data' }),
    cache,
    service,
  ]);
  expect(finding).toMatchObject({ root: { name: 'cache' }, strength: 'derived' });
  expect(finding?.evidence.some((entry) => entry.value.includes('OOMKilled'))).toBe(true);
});

test('a port the Service does not offer is the caller’s', () => {
  const service = object('Service', 'cache', {
    namespace: 'shop',
    spec: { selector: { app: 'cache' }, ports: [{ port: 6379 }] },
  });
  const cache = podOf('cache', 'x');
  expect(
    judged('dial tcp cache.shop.svc:6380: connect: connection refused', [...deployment('cache'), cache, service]),
  ).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
});

test('a third party that does not answer leaves the owner open and names what would settle it', () => {
  const finding = judged(
    'POST https://api.partner.example/v3/labels: net/http: request canceled (Client.Timeout exceeded while awaiting headers)',
  );
  expect(finding).toMatchObject({ owner: 'undetermined', boundary: null });
  expect(finding?.missing.length).toBeGreaterThan(1);
});

test('stays silent for a lookup that times out and for complaints of long ago', () => {
  expect(judged('lookup pay.example.org on 10.100.0.10:53: read udp: i/o timeout')).toBeUndefined();
  expectSilent(rule, {
    subject,
    objects: [...app, pod],
    logs: [logOf(pod, '2026-11-20T01:00:00Z ERROR getaddrinfo ENOTFOUND old.example.org')],
  });
});

test('a peer that cannot even start leaves the owner open', () => {
  const cache = podOf('cache', 'x', { namespace: 'data', ready: false, node: '' });
  cache.status.phase = 'Pending';
  cache.status.containerStatuses = [];
  const finding = judged('connect to cache.data.svc:6379 failed: connection refused', [
    ...deployment('cache', { namespace: 'data' }),
    cache,
  ]);
  expect(finding?.owner).toBe('undetermined');
});
