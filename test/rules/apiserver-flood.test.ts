import { expect, test } from 'vitest';
import rule from '../../src/rules/app/apiserver-flood.ts';
import { alert, at, log, owned, pod, probe, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Cluster' };
const alerts = [alert('KubeAPITerminatedRequests')];
const rejected = series(
  'apiserver_flowcontrol_rejected_requests_total',
  { priority_level: 'workload-low', flow_schema: 'service-accounts' },
  [0, 0, 400, 900, 1400],
);
const workload = (namespace: string, team: string, created = at('08:15')) => [
  object('Deployment', 'tracker', {
    namespace,
    labels: { team },
    spec: {
      replicas: 12,
      template: { spec: { containers: [{ name: 'app', env: [{ name: 'POLL_INTERVAL_MS', value: '250' }] }] } },
    },
  }),
  object('ReplicaSet', 'tracker-1', {
    namespace,
    creationTimestamp: created,
    spec: { replicas: 12 },
    ...owned('Deployment', 'tracker'),
  }),
  pod('tracker-1-a', 'n1', { namespace, ...owned('ReplicaSet', 'tracker-1') }),
];

test('the client that says how fast it polls, rolled out as rejections began; its owner is whoever owns it', () => {
  for (const [namespace, team, owner] of [
    ['batch', 'batch', 'app'],
    ['kyverno', 'platform', 'platform'],
  ] as const) {
    const [finding] = findingsOf(rule, {
      subject,
      alerts,
      objects: workload(namespace, team),
      series: [rejected],
      probes: [probe(200)],
      logs: [log('tracker-1-a', 'INFO starting poll loop scope=all interval=250ms limit=0', namespace)],
    });
    expect(finding).toMatchObject({ owner, mechanism: 'api-flood', strength: 'direct' });
    expect(finding?.evidence.map((entry) => entry.value)).toContain('POLL_INTERVAL_MS=250');
  }
});

test('a victim that complains of 429 is not the client that floods', () => {
  const [finding] = findingsOf(rule, {
    subject,
    alerts,
    objects: workload('shop', 'shop', '2026-11-01T00:00:00Z'),
    series: [rejected],
    logs: [log('tracker-1-a', '2026-11-20T08:25:00Z ERROR failed to list *v1.Pod: 429 Too Many Requests', 'shop')],
  });
  expect(finding).toMatchObject({ owner: 'undetermined' });
  expect(finding?.missing[0]?.fix).toContain('dump_requests');
});

test('the client with by far the most requests in its own metrics', () => {
  const calls = (name: string, namespace: string, values: number[]) =>
    series('rest_client_requests_total', { pod: name, namespace }, values);
  const objects = [...workload('batch', 'batch', '2026-11-01T00:00:00Z'), pod('quiet', 'n1')];
  const [finding] = findingsOf(rule, {
    subject,
    alerts,
    objects,
    series: [rejected, calls('tracker-1-a', 'batch', [0, 30000, 60000]), calls('quiet', 'shop', [0, 60, 120])],
  });
  expect(finding).toMatchObject({ owner: 'app', root: { kind: 'Deployment', name: 'tracker' } });
});

test('stays silent on registry and eviction 429s and while etcd fails', () => {
  const other = [
    log('a', 'toomanyrequests: 429 from registry'),
    log('b', '429 Cannot evict pod as it would violate the pod’s disruption budget'),
  ];
  expectSilent(rule, { subject, alerts, logs: other });
  expectSilent(rule, { subject, alerts, series: [rejected], probes: [probe(500, '[-]etcd failed: reason withheld')] });
});

test('the client whose own metric shows most requests by far, with its pace in its arguments', () => {
  const flooder = workload('kyverno', 'platform', '2026-11-19T00:00:00Z');
  flooder[0]!.spec.template.spec.containers[0] = { name: 'app', args: ['--clientRateLimitQPS=900'] };
  const requests = (podName: string, perMinute: number) =>
    series(
      'rest_client_requests_total',
      { namespace: 'kyverno', pod: podName, job: podName },
      [0, 1, 2, 3].map((minute) => minute * perMinute),
    );
  const [finding] = findingsOf(rule, {
    subject,
    alerts,
    objects: flooder,
    series: [rejected, requests('tracker-1-a', 50000), requests('unknown-pod', 24)],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(finding?.evidence.map((entry) => entry.value)).toContain('clientRateLimitQPS=900');
});
