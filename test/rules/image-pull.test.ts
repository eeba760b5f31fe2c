import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/image-pull.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const waiting = (message: string, reason = 'ImagePullBackOff') => ({
  ready: false,
  state: {
    waiting: {
      reason,
      message: `Back-off pulling image: ErrImagePull: failed to pull and unpack image "x": ${message}`,
    },
  },
});
const pulling = (name: string, namespace: string, message: string, spec = {}, reason?: string) => [
  ...deployment(name, { namespace }),
  podOf(name, 'a', {
    namespace,
    ready: false,
    status: waiting(message, reason),
    spec,
    container: { image: `docker.io/acme/${name}:9` },
  }),
];
const one = (message: string, spec = {}, reason?: string) =>
  findingsOf(rule, { subject, objects: pulling('web', 'shop', message, spec, reason) })[0];
const three = (message: string) =>
  findingsOf(rule, {
    subject,
    objects: [
      ...pulling('web', 'shop', message),
      ...pulling('api', 'billing', message),
      ...pulling('job', 'batch', message),
    ],
  })[0];

test('a tag or repository nobody has, or a variant that does not exist, is the owner’s', () => {
  for (const message of [
    'failed to resolve reference "docker.io/acme/web:9": docker.io/acme/web:9: not found',
    'manifest unknown: manifest unknown',
    'no match for platform in manifest: not found',
  ])
    expect(one(message)).toMatchObject({ owner: 'app', boundary: 'image', strength: 'direct' });
  expect(one("couldn't parse image reference", {}, 'InvalidImageName')).toMatchObject({
    owner: 'app',
    strength: 'direct',
  });
});

test('a tag that still runs elsewhere was deleted: less sure', () => {
  const objects = pulling('web', 'shop', 'docker.io/acme/web:9: not found');
  const running = podOf('web', 'old', { age: 6000, container: { image: 'docker.io/acme/web:9' } });
  expect(findingsOf(rule, { subject, objects: [...objects, running] })[0]?.strength).toBe('derived');
});

test('three kinds of 429 have three owners', () => {
  const logins =
    'unexpected status from HEAD request to https://registry-1.docker.io/v2/: 429 Too Many Requests toomanyrequests: too many failed login attempts for username or IP address';
  expect(three(logins)).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(three('toomanyrequests: You have reached your pull rate limit')).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
  expect(three('unexpected status code https://registry.example.org/v2/: 429 Too Many Requests')).toMatchObject({
    owner: 'undetermined',
  });
});

test('401 and 403: an own pull secret is the app’s, the nodes’ credential the platform’s', () => {
  const refused = 'pulling from host acme.example failed with status code [manifests 9]: 403 Forbidden';
  expect(one(refused, { imagePullSecrets: [{ name: 'mine' }] })?.owner).toBe('app');
  expect(three(refused)).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(one(refused)).toMatchObject({ owner: 'platform', strength: 'circumstantial' });
  const [workload, set, pod] = pulling('web', 'shop', refused) as any;
  const lacking = event(pod, 'FailedToRetrieveImagePullSecret', 'Unable to retrieve some image pull secrets (mine)');
  expect(findingsOf(rule, { subject, objects: [workload, set, pod, lacking] })[0]).toMatchObject({
    owner: 'app',
    strength: 'direct',
  });
});

test("server errors of the vendor's registry are the vendor's only where they spread; time-outs name nobody", () => {
  const failing =
    'unexpected status from GET request to https://123.dkr.ecr.us-west-2.amazonaws.com/v2/: 503 Service Unavailable';
  expect(three(failing)).toMatchObject({ owner: 'cloud', strength: 'derived' });
  expect(one(failing)?.owner).toBe('undetermined');
  expect(one('Get "https://quay.io/v2/": dial tcp 1.2.3.4:443: i/o timeout')).toMatchObject({
    owner: 'undetermined',
    boundary: 'network',
  });
});

test('stays silent where the node, not the pull, fails', () => {
  for (const message of [
    'failed to extract layer: no space left on device',
    'image unpack job has no layers: failed to unpack image',
  ])
    expectSilent(rule, { subject, objects: pulling('web', 'shop', message) });
});

test('images of several namespaces that the registry denies having point at the mirror', () => {
  expect(three('docker.io/acme/x:9: not found')).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('no variant for nodes that came after settled templates of several teams: the nodes changed, not the images', () => {
  const missing = 'no match for platform in manifest: not found';
  const build = (age: number) =>
    object('Node', 'node-a', {
      labels: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.20348' },
      creationTimestamp: minutesAgo(age),
      status: { nodeInfo: { osImage: 'Windows Server 2022 Datacenter', kernelVersion: '10.0.20348.4171' } },
    });
  const failing = (name: string, namespace: string) => [
    ...deployment(name, { namespace, age: 60 * 24 * 100 }),
    podOf(name, 'a', {
      namespace,
      node: 'node-a',
      ready: false,
      status: waiting(missing),
      container: { image: `docker.io/acme/${name}:9` },
    }),
  ];
  const teams = [...failing('web', 'shop'), ...failing('api', 'billing')];
  const [renewed] = findingsOf(rule, { subject, objects: [...teams, build(120)] });
  expect(renewed).toMatchObject({ owner: 'platform', boundary: 'node', strength: 'derived' });
  expect(JSON.stringify(renewed?.evidence)).toContain('20348');
  expect(findingsOf(rule, { subject, objects: [...teams, build(60 * 24 * 200)] })[0]?.owner).toBe('app');
  expect(findingsOf(rule, { subject, objects: [...failing('web', 'shop'), build(120)] })[0]).toMatchObject({
    owner: 'app',
    strength: 'derived',
  });
});
