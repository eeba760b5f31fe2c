import { expect, test } from 'vitest';
import rule from '../../src/rules/app/crash-says-why.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { crashing, deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = deployment('web', { before: {} });
const pod = podOf('web', 'a', { ready: false, status: crashing(1) });
const judged = (words: string) =>
  findingsOf(rule, { subject, objects: [...app, pod], logs: [logOf(pod, words, { previous: true })] })[0];

test('last words about configuration, files, schema and code name the kind of work', () => {
  const cases: [string, string][] = [
    ['FATAL required environment variable DB_URL is not set', 'config'],
    ["KeyError: 'STRIPE_SECRET'", 'config'],
    ['Error: failed to parse config: yaml: line 4: mapping values are not allowed', 'config'],
    ["Error: Cannot find module '/app/server.js'", 'config'],
    ['open /etc/web/settings.toml: no such file or directory', 'config'],
    ['ERROR: relation "orders_v2" does not exist', 'application'],
    ['panic: runtime error: index out of range [3]', 'application'],
    ['Exception in thread "main" java.lang.NullPointerException', 'application'],
  ];
  for (const [words, boundary] of cases)
    expect(judged(words)).toMatchObject({ owner: 'app', boundary, strength: 'direct' });
});

test("the runtime's words count where there is no log", () => {
  const status = crashing(
    128,
    'StartError',
    4,
    'exec: "/app/start.sh": stat /app/start.sh: no such file or directory: unknown',
  );
  const [finding] = findingsOf(rule, { subject, objects: [...app, podOf('web', 'b', { ready: false, status })] });
  expect(finding?.cause.en).toContain('/app/start.sh');
});

test('a container that a webhook injected is the platform’s', () => {
  const injected = podOf('web', 'c', {
    ready: false,
    containers: [{ name: 'app' }, { name: 'proxy' }],
    status: { ...crashing(1), name: 'proxy' },
  });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...app, injected],
    logs: [logOf(injected, 'panic: bad bootstrap', { container: 'proxy', previous: true })],
  });
  expect(finding?.owner).toBe('platform');
});

test('stays silent for last words about surroundings, for OOM and for pods lost with their node', () => {
  for (const words of [
    'panic: dial tcp 10.0.0.1:5432: connect: connection refused',
    'fatal: x509: certificate signed by unknown authority',
    'open /data/x: read-only file system',
    'exec /app: exec format error',
  ])
    expect(judged(words)).toBeUndefined();
  for (const reason of ['OOMKilled', 'ContainerStatusUnknown']) {
    const other = podOf('web', 'd', { ready: false, status: crashing(137, reason) });
    expectSilent(rule, { subject, objects: [...app, other], logs: [logOf(other, 'panic: x', { previous: true })] });
  }
});

test('an old template that begins to crash was set off by something else: less sure', () => {
  const old = deployment('web', { age: 60 * 24 * 20, before: {} });
  expect(
    findingsOf(rule, {
      subject,
      objects: [...old, pod],
      logs: [logOf(pod, 'panic: bad record', { previous: true })],
    })[0]?.strength,
  ).toBe('derived');
});
