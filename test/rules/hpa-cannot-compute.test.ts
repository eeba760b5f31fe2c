import { expect, test } from 'vitest';
import rule from '../../src/rules/app/hpa-cannot-compute.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const hpa = (text: string, reason = 'FailedGetResourceMetric') =>
  object('HorizontalPodAutoscaler', 'web', {
    namespace: 'shop',
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    status: { conditions: [condition('ScalingActive', 'False', reason, text)] },
  });
const subject = { kind: 'HorizontalPodAutoscaler', name: 'web', namespace: 'shop' };
const app = deployment('web');
const missing = (container: string, pod: string) =>
  `failed to get cpu utilization: missing request for cpu in container ${container} of Pod ${pod}`;

test('a pod behind the selector that is no replica is its own owner’s', () => {
  const stray = object('Pod', 'web-test-connection', {
    namespace: 'shop',
    labels: { app: 'web' },
    spec: { containers: [{ name: 'wget' }] },
    status: { phase: 'Succeeded' },
  });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...app, stray, hpa(missing('wget', 'web-test-connection'))],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', root: { name: 'web-test-connection' } });
});

test('a container that is in no template was injected: the platform’s, with the webhook that did it', () => {
  const pod = podOf('web', 'a', { containers: [{ name: 'app' }, { name: 'linkerd-proxy' }] });
  const webhook = object('MutatingWebhookConfiguration', 'linkerd-injector', {
    creationTimestamp: '2026-11-20T07:20:00Z',
    webhooks: [{ name: 'linkerd.example', rules: [{ resources: ['pods'] }] }],
  });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...app, pod, webhook, hpa(missing('linkerd-proxy', 'web-2-a'))],
  });
  expect(finding).toMatchObject({ owner: 'platform', root: { name: 'linkerd-injector' } });
});

test('the template’s own container, the old wording, ambiguous selectors, empty metrics and a lost target are the app’s', () => {
  const pod = podOf('web', 'a');
  for (const failing of [
    hpa(missing('app', 'web-2-a')),
    hpa('failed to get cpu utilization: missing request for cpu'),
    hpa('pods by selector app=web are controlled by multiple HPAs', 'AmbiguousSelector'),
    hpa(
      'unable to get external metric shop/queue: no metrics returned from external metrics API',
      'FailedGetExternalMetric',
    ),
  ])
    expect(findingsOf(rule, { subject, objects: [...app, pod, failing] })[0]).toMatchObject({
      owner: 'app',
      boundary: 'autoscaling',
    });
});

test('stays silent where the metrics API does not answer, and where the HPA works', () => {
  expectSilent(rule, {
    subject,
    objects: [
      ...app,
      hpa(
        'unable to fetch metrics from external metrics API: the server is currently unable to handle the request',
        'FailedGetExternalMetric',
      ),
    ],
  });
  const fine = hpa('');
  fine.status.conditions = [condition('ScalingActive', 'True', 'ValidMetricFound')];
  expectSilent(rule, { subject, objects: [...app, fine] });
});

test('without an adapter for custom or external metrics the cluster lacks something, not the application', () => {
  for (const [reason, words] of [
    [
      'FailedGetPodsMetric',
      'unable to get metric requests: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
    ],
    [
      'FailedGetExternalMetric',
      'unable to get external metric shop/lag/nil: unable to fetch metrics from external metrics API: no external metrics API (external.metrics.k8s.io) registered',
    ],
  ] as const)
    expect(findingsOf(rule, { subject, objects: [...app, hpa(words, reason)] })[0]).toMatchObject({
      owner: 'platform',
    });
});

test('a target that was renamed leaves its autoscaler behind: found from the workload that took its place', () => {
  const lost = (words: string) => {
    const scaler = hpa('');
    scaler.status.conditions = [condition('AbleToScale', 'False', 'FailedGetScale', words)];
    return scaler;
  };
  const gone = 'unable to get the target scale: deployments.apps "web" not found';
  for (const name of ['web-v2', 'web-green']) {
    const [finding] = findingsOf(rule, {
      subject: { kind: 'Deployment', name, namespace: 'shop' },
      objects: [...deployment(name), podOf(name, 'a'), lost(gone)],
    });
    expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'autoscaling' });
  }
  // Another workload of the namespace, and one that has an autoscaler of its own, are not meant.
  for (const own of [
    [],
    [object('HorizontalPodAutoscaler', 'own', { namespace: 'shop', spec: { scaleTargetRef: { name: 'web-v2' } } })],
  ])
    expectSilent(rule, {
      subject: { kind: 'Deployment', name: own.length > 0 ? 'web-v2' : 'basket', namespace: 'shop' },
      objects: [...deployment('basket'), ...deployment('web-v2'), ...own, lost(gone)],
    });
  expect(
    findingsOf(rule, {
      subject,
      objects: [lost('no matches for kind "Rollout" in version "argoproj.io/v1alpha1"')],
    })[0],
  ).toMatchObject({ owner: 'platform' });
});
