import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/platform/injected-container-fails.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = (name: string) => ({ name: 'app', image: `${name}:1` });
const proxy = (image: string) => ({ name: 'istio-proxy', image });

/** A workload with one pod whose injected proxy fails or runs. */
const meshed = (
  name: string,
  namespace: string,
  image: string,
  proxyStatus: Record<string, any> = {},
  options: { appReady?: boolean; age?: number; inTemplate?: boolean; annotations?: Record<string, string> } = {},
): KubeObject[] => {
  const ready = Object.keys(proxyStatus).length === 0;
  const [workload, ...sets] = deployment(name, { namespace, age: 9000 });
  const pod = podOf(name, 'a', {
    namespace,
    ready,
    age: options.age ?? 20,
    containers: [app(name), proxy(image)],
  });
  pod.status.containerStatuses = [
    { name: 'app', ready: options.appReady ?? true, restartCount: 0, state: { running: {} } },
    { name: 'istio-proxy', ready, restartCount: ready ? 0 : 6, state: { running: {} }, ...proxyStatus },
  ];
  for (const object of [workload!, ...sets]) {
    object.spec.template = structuredClone(object.spec.template);
    if (options.inTemplate) object.spec.template.spec.containers.push(proxy(image));
    if (options.annotations) object.spec.template.metadata.annotations = options.annotations;
  }
  return [workload!, ...sets, pod];
};
const broken = {
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode: 1, finishedAt: minutesAgo(2) } },
};

const istiod = (): KubeObject[] => {
  const [workload, current, former] = deployment('istiod', {
    namespace: 'istio-system',
    age: 40,
    image: 'pilot:1.25',
    before: { image: 'pilot:1.24' },
  });
  return [
    workload!,
    current!,
    former!,
    podOf('istiod', 'a', { namespace: 'istio-system' }),
    object('Service', 'istiod', { namespace: 'istio-system', spec: { selector: { app: 'istiod' } } }),
    object('MutatingWebhookConfiguration', 'istio-sidecar-injector', {
      webhooks: [
        {
          name: 'rev.namespace.sidecar-injector.istio.io',
          clientConfig: { service: { name: 'istiod', namespace: 'istio-system' } },
          rules: [{ apiGroups: [''], resources: ['pods'] }],
        },
      ],
    }),
  ];
};

test('the same injected container fails in several workloads, the former image runs on: the platform, since its injector changed', () => {
  const objects = [
    ...meshed('web', 'shop', 'proxyv2:1.25', broken),
    ...meshed('api', 'billing', 'proxyv2:1.25', broken),
    ...meshed('old', 'billing', 'proxyv2:1.24', {}, { age: 9000 }),
    ...istiod(),
  ];
  const [finding] = findingsOf(rule, { subject, objects });
  expect(finding).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    root: { kind: 'Deployment', name: 'istiod' },
  });
  expect(finding!.cause.en).toContain('image pilot:1.24 → pilot:1.25');
  expect(finding!.onset).toBe(minutesAgo(40));
  expect(finding!.nextSteps[0]!.en).toContain('kubectl rollout undo deployment/istiod -n istio-system');
  expect(finding!.evidence.map((entry) => entry.value)).toContain('proxyv2:1.24');
});

test('an injected container that never gets ready counts as well; one workload does where its elders run another image', () => {
  const unready = { ready: false };
  const two = [...meshed('web', 'shop', 'agent:2', unready), ...meshed('api', 'billing', 'agent:2', unready)];
  expect(findingsOf(rule, { subject, objects: two })[0]).toMatchObject({ owner: 'platform', strength: 'direct' });
  const one = [...meshed('web', 'shop', 'agent:2', broken), ...meshed('api', 'billing', 'agent:1')];
  expect(findingsOf(rule, { subject, objects: one })[0]).toMatchObject({ owner: 'platform' });
});

test('stays silent for a sidecar of the template, a failing main container, own settings, and other people’s pods', () => {
  const both = (options: Parameters<typeof meshed>[4], status: Record<string, any> = broken) => [
    ...meshed('web', 'shop', 'proxyv2:1.25', status, options),
    ...meshed('api', 'billing', 'proxyv2:1.25', status, options),
  ];
  expectSilent(rule, { subject, objects: both({ inTemplate: true }) });
  expectSilent(rule, { subject, objects: both({ appReady: false }, { ready: false }) });
  expectSilent(rule, { subject: { ...subject, name: 'other' }, objects: both({}) });
  expectSilent(rule, {
    subject,
    objects: [
      ...meshed('web', 'shop', 'proxyv2:1.25', broken, { annotations: { 'proxy.istio.io/config': 'concurrency: x' } }),
      ...meshed('api', 'billing', 'proxyv2:1.24'),
    ],
  });
  expectSilent(rule, { subject, objects: both({ age: 1 }) });
});
