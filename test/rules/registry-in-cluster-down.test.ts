import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/registry-in-cluster-down.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { crashing, deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const pulling = (host: string, end: string) => {
  const image = `${host}/web:3`;
  const words = `Failed to pull image "${image}": unexpected status from HEAD request to https://${host}/v2/web: ${end}`;
  const pod = podOf('web', 'a', {
    ready: false,
    container: { image },
    status: { state: { waiting: { reason: 'ImagePullBackOff', message: words } } },
  });
  return [...deployment('web'), pod, event(pod, 'Failed', words)];
};
const registry = (ready: boolean) => {
  const pod = podOf('harbor-registry', 'r', {
    namespace: 'harbor',
    ready,
    ...(ready ? {} : { status: crashing(1) }),
  });
  return { pod, objects: [...deployment('harbor-registry', { namespace: 'harbor' }), pod] };
};
const down = registry(false);

test('a registry of the own cluster that crashes, found by the host’s name or by its Ingress', () => {
  const [finding] = findingsOf(rule, {
    provider: 'self',
    subject,
    objects: [...pulling('harbor.dc.example.com', '503 Service Unavailable'), ...down.objects],
    logs: [logOf(down.pod, 'level=fatal msg="write /storage: no space left on device"', { previous: true })],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'image', strength: 'direct' });
  expect(finding?.cause.en).toContain('no space left');
  const ingress = object('Ingress', 'front', {
    namespace: 'harbor',
    spec: { rules: [{ host: 'images.example.com' }] },
  });
  expect(
    findingsOf(rule, {
      subject,
      objects: [...pulling('images.example.com', '502 Bad Gateway'), ...down.objects, ingress],
    })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('stays silent for registries elsewhere, one that is ready, and refusals', () => {
  const judged = (host: string, end: string, objects = down.objects) =>
    expectSilent(rule, { subject, objects: [...pulling(host, end), ...objects] });
  judged('quay.io', '503 Service Unavailable');
  judged('harbor.dc.example.com', '503 Service Unavailable', registry(true).objects);
  judged('harbor.dc.example.com', '401 Unauthorized');
});
