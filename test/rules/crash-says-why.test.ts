import { expect, test } from 'vitest';
import rule from '../../src/rules/app/crash-says-why.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
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

test.each([
  ['image', '/bin/sh: 1: gunicorn: not found'],
  ['image', 'Error: Unable to access jarfile app.jar'],
  [
    'image',
    'UnsupportedClassVersionError: com/acme/Main has been compiled by a more recent version of the Java Runtime',
  ],
  ['image', 'npm ERR! missing script: start'],
  ['image', 'Bundler::GemNotFound: Could not find rack-2.2 in any of the sources'],
  ['image', "/app/bin: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found"],
  ['config', "Unrecognized VM option 'UseConcMarkSweepGC'"],
  ['config', 'flag provided but not defined: -lisen'],
  ['config', 'unknown command "serve" for "app"'],
  ['config', 'nginx: [emerg] unknown directive "prox_pass" in /etc/nginx/nginx.conf:12'],
  ['config', 'django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.'],
  ['config', "ModuleNotFoundError: No module named 'flask'"],
  ['application', "terminate called after throwing an instance of 'std::bad_alloc'"],
  ['application', 'PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted'],
  ['application', 'Unhandled exception. System.InvalidOperationException: Sequence contains no elements'],
] as const)('a runtime’s own words (%s): %s', (boundary, words) => {
  expect(judged(words)).toMatchObject({ owner: 'app', boundary });
});

test('a frame’s words for any failed start do not count beside a peer that refused', () => {
  const words = 'APPLICATION FAILED TO START';
  expect(judged(words)).toMatchObject({ boundary: 'config' });
  expect(judged(`Caused by: Connection refused\n${words}`)).toBeUndefined();
});

test('a built-in kind in a version no longer served is the client’s; a custom kind that is missing is not', () => {
  const missing = (kind: string, version: string) =>
    `ERROR setup: problem running manager {"error": "no matches for kind \\"${kind}\\" in version \\"${version}\\""}`;
  for (const words of [
    missing('FlowSchema', 'flowcontrol.apiserver.k8s.io/v1beta3'),
    'fatal: no matches for kind "CronJob" in version "batch/v1beta1"',
    'no matches for kind "Ingress" in version "extensions/v1beta1"',
  ])
    expect(judged(words), words).toMatchObject({ owner: 'app', boundary: 'application' });
  for (const words of [
    missing('Gateway', 'gateway.networking.k8s.io/v1beta1'),
    missing('Certificate', 'cert-manager.io/v1'),
  ])
    expect(judged(words), words).toBeUndefined();
});

test('what the host’s driver answers is no error of the program’s own code', () => {
  expect(
    judged(
      'Traceback (most recent call last):\nRuntimeError: Failed to initialize NVML: Driver/library version mismatch',
    ),
  ).toBeUndefined();
});

test('the same last words in another namespace speak against the program, unless its template is new', () => {
  const words = 'RuntimeError: cannot create a session with the accelerator runtime 42';
  const other = podOf('jobs', 'a', { namespace: 'batch', ready: false, status: crashing(1) });
  const situation = (age: number, theirs: string) => ({
    subject,
    objects: [
      ...deployment('web', { age, before: {} }),
      ...deployment('jobs', { namespace: 'batch', age: 90000, before: {} }),
      pod,
      other,
    ],
    logs: [logOf(pod, words, { previous: true }), logOf(other, theirs, { previous: true })],
  });
  expectSilent(rule, situation(90000, words.replace('42', '7')));
  expect(findingsOf(rule, situation(90000, 'RuntimeError: cannot read the list of jobs of today'))).toHaveLength(1);
  expect(findingsOf(rule, situation(30, words))).toHaveLength(1);
});

test('an agent of the nodes is the platform’s in any namespace, unless a team’s name stands on it', () => {
  const words = 'FATAL failed to load BPF program: no prebuilt probe for kernel 6.12.53';
  const ownerOf = (spec: object, labels: Record<string, string> = {}) => {
    const agent = object('DaemonSet', 'probe', {
      apiVersion: 'apps/v1',
      namespace: 'shop',
      labels,
      spec: { template: { spec: { containers: [{ name: 'app' }], ...spec } } },
    });
    const fallen = podOf('probe', 'a', { ready: false, status: crashing(1) });
    fallen.metadata.ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'probe', uid: agent.metadata.uid, controller: true },
    ];
    const [finding] = findingsOf(rule, {
      subject: { kind: 'DaemonSet', name: 'probe', namespace: 'shop' },
      objects: [agent, fallen],
      logs: [logOf(fallen, words, { previous: true })],
    });
    expect(finding?.boundary).toBe('config');
    return finding?.owner;
  };
  const everywhere = { tolerations: [{ operator: 'Exists' }] };
  expect(ownerOf({ priorityClassName: 'system-node-critical', ...everywhere })).toBe('platform');
  expect(ownerOf({ priorityClassName: 'system-node-critical', ...everywhere }, { team: 'checkout' })).toBe('app');
  expect(ownerOf(everywhere)).toBe('app');
  expect(
    ownerOf({ priorityClassName: 'system-node-critical', tolerations: [{ key: 'gpu', operator: 'Exists' }] }),
  ).toBe('app');
});

test.each([
  ['ERROR: kernel version 4.14.355 is not supported, need 5.8 or later', true],
  ['failed to load driver: no suitable driver for kernel release 6.12.53', true],
  ['insmod: ERROR: could not insert module probe.ko: Invalid module format', true],
  ['KeyError: unsupported op, no registered GPU kernel', false],
  ['panic: notebook kernel not supported', false],
])('words about the kernel of the node, and other kernels: %s', (words, ofNode) => {
  expect(judged(words)?.cause.en.includes('the kernel of its node') ?? false).toBe(ofNode);
});
