import { expect, test } from 'vitest';
import rule from '../../src/rules/app/probe-fails.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';
import { deployment, logOf, minutesAgo, node, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = deployment('web', { before: {} });
const unhealthy = (pod: ReturnType<typeof podOf>, message: string, count = 40) =>
  event(pod, 'Unhealthy', message, { count, at: minutesAgo(1), firstAt: minutesAgo(24) });
const unready = podOf('web', 'a', {
  ready: false,
  container: { readinessProbe: { httpGet: { path: '/ready', port: 8080 } } },
});
const judged = (message: string, log = '') =>
  findingsOf(rule, {
    subject,
    objects: [...app, unready, node('node-1'), unhealthy(unready, message)],
    logs: log ? [logOf(unready, log)] : [],
  })[0];

test('what the application or the runtime answers decides, in every probe and wording', () => {
  for (const message of [
    'Readiness probe failed: HTTP probe failed with statuscode: 404',
    'Liveness probe failed: HTTP probe failed with statuscode: 401',
    'Readiness probe errored and resulted in unknown state: rpc error: exec: "/bin/probe": stat /bin/probe: no such file or directory: unknown',
    'Startup probe failed: sh: curl: not found',
    'Readiness probe failed: Get "https://10.0.0.1:8080/": http: server gave HTTP response to HTTPS client',
  ])
    expect(judged(message)).toMatchObject({ owner: 'app', boundary: 'probe', strength: 'direct' });
  expect(judged('Readiness probe failed: HTTP probe failed with statuscode: 503')?.strength).toBe('derived');
});

test('a refused port is sure only where the log says which port it listens on', () => {
  const refused =
    'Readiness probe failed: Get "http://10.0.0.1:8080/ready": dial tcp 10.0.0.1:8080: connect: connection refused';
  expect(judged(refused)?.strength).toBe('derived');
  const finding = judged(refused, 'INFO server listening on :9090');
  expect(finding?.strength).toBe('direct');
  expect(finding?.cause.en).toContain('9090');
});

test('one node alone fails while the same revision answers on another: nobody yet', () => {
  const objects = [...app, unready, podOf('web', 'b', { node: 'node-2' }), node('node-1'), node('node-2')];
  const message = 'Readiness probe failed: HTTP probe failed with statuscode: 401';
  expect(findingsOf(rule, { subject, objects: [...objects, unhealthy(unready, message)] })[0]).toMatchObject({
    owner: 'undetermined',
    strength: 'circumstantial',
  });
});

test('a probe that only times out names nobody', () => {
  expect(
    judged(
      'Readiness probe failed: Get "http://10.0.0.1:8080/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    ),
  ).toMatchObject({
    owner: 'undetermined',
    strength: 'circumstantial',
  });
});

test('a release that leaves less time for an answer is the release’s', () => {
  const probe = (rest: object) => ({ livenessProbe: { httpGet: { path: '/h', port: 8080 }, ...rest } });
  const said = 'Liveness probe failed: Get "http://10.0.0.1:8080/h": context deadline exceeded';
  const of = (before: object, now: object) => {
    const pod = podOf('web', 'a', { ready: false, container: now });
    const sets = deployment('web', { container: now, before: { container: before } });
    return findingsOf(rule, { subject, objects: [...sets, pod, node('node-1'), unhealthy(pod, said)] })[0];
  };
  expect(of(probe({ timeoutSeconds: 5 }), probe({ timeoutSeconds: 1 }))).toMatchObject({ owner: 'app' });
  expect(of(probe({ failureThreshold: 6 }), probe({ failureThreshold: 2 }))).toMatchObject({ owner: 'app' });
  expect(of({}, probe({}))).toMatchObject({ owner: 'app' });
  expect(of(probe({}), probe({ timeoutSeconds: 5 }))).toMatchObject({ owner: 'undetermined' });
});

test('stays silent for noise on ready pods, young pods, sick nodes and nodes with other victims', () => {
  const timeout = 'Readiness probe failed: context deadline exceeded';
  const ready = podOf('web', 'b');
  expectSilent(rule, { subject, objects: [...app, ready, node('node-1'), unhealthy(ready, timeout, 1)] });
  const young = podOf('web', 'c', { ready: false, age: 1 });
  expectSilent(rule, {
    subject,
    objects: [...app, young, node('node-1'), unhealthy(young, 'Readiness probe failed: connection refused')],
  });
  const sick = node('node-1', { conditions: [condition('MemoryPressure', 'True')] });
  expectSilent(rule, { subject, objects: [...app, unready, sick, unhealthy(unready, timeout)] });
  const other = podOf('api', 'd', { ready: false });
  expectSilent(rule, {
    subject,
    objects: [
      ...app,
      ...deployment('api'),
      unready,
      other,
      node('node-1'),
      unhealthy(unready, timeout),
      unhealthy(other, timeout),
    ],
  });
});

test('an application that says it cannot reach something answers 5xx for that reason', () => {
  const old = deployment('web', { age: 60 * 24 * 9 });
  const answers = (log: string) =>
    findingsOf(rule, {
      subject,
      objects: [
        ...old,
        unready,
        node('node-1'),
        unhealthy(unready, 'Readiness probe failed: HTTP probe failed with statuscode: 503'),
      ],
      logs: [logOf(unready, log)],
    })[0];
  expect(answers(`${minutesAgo(5)} ERROR dial tcp 10.1.2.3:5432: i/o timeout`)?.owner).toBe('undetermined');
  expect(answers(`${minutesAgo(5)} ERROR cache not warm`)?.owner).toBe('app');
});

test('a start that the probe does not wait for is named with the probe’s patience, and only where the kubelet kills', () => {
  const slow = podOf('web', 'a', {
    ready: false,
    status: { restarts: 14, ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } },
    container: { livenessProbe: { httpGet: { path: '/deep', port: 8080 }, periodSeconds: 5, failureThreshold: 2 } },
  });
  const situation = (words: string, killed = true) => ({
    subject,
    objects: [
      ...app,
      slow,
      node('node-1'),
      unhealthy(slow, 'Liveness probe failed: HTTP probe failed with statuscode: 503'),
      ...(killed ? [event(slow, 'Killing', 'Container app failed liveness probe, will be restarted')] : []),
    ],
    logs: [logOf(slow, words, { previous: true })],
  });
  for (const words of [
    'WARN GET /deep 503 check=cache state=WARMING 31%',
    'INFO replaying journal 42%',
    'INFO still loading model weights',
  ]) {
    const [finding] = findingsOf(rule, situation(words));
    expect(finding, words).toMatchObject({ owner: 'app', strength: 'derived' });
    expect(finding?.cause.en).toContain('10 s');
  }
  expect(findingsOf(rule, situation('INFO still loading model weights', false))[0]?.owner).toBe('undetermined');
  expect(findingsOf(rule, situation('ERROR cannot serve'))[0]?.owner).toBe('undetermined');
});
