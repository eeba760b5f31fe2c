import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/platform/metrics-adapter-blind.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const hpa = (name: string, namespace: string, rest: { works?: boolean; external?: boolean; ago?: number } = {}) =>
  object('HorizontalPodAutoscaler', name, {
    namespace,
    spec: {
      scaleTargetRef: { kind: 'Deployment', name },
      metrics: [rest.external ? { external: { metric: { name: 'depth' } } } : { pods: { metric: { name: 'rps' } } }],
    },
    status: {
      conditions: [
        rest.works
          ? condition('ScalingActive', 'True', 'ValidMetricFound')
          : condition(
              'ScalingActive',
              'False',
              rest.external ? 'FailedGetExternalMetric' : 'FailedGetPodsMetric',
              'unable to fetch metrics from custom metrics API: the server could not find the metric rps for pods',
              minutesAgo(rest.ago ?? 30),
            ),
      ],
    },
  });
const adapter = deployment('prometheus-adapter', { namespace: 'monitoring' });
const pod = podOf('prometheus-adapter', 'a', { namespace: 'monitoring' });
const api = (available = 'True', group = 'custom.metrics.k8s.io') =>
  object('APIService', `v1beta1.${group}`, {
    spec: { group, service: { name: 'prometheus-adapter', namespace: 'monitoring' } },
    status: { conditions: [condition('Available', available)] },
  });
const log = (line: string) => [logOf(pod, line)];
const subject = { kind: 'HorizontalPodAutoscaler', name: 'web', namespace: 'shop' };
const around: KubeObject[] = [...adapter, pod, api()];
const blind = 'unable to update list of all metrics: Get "http://prom:9090": lookup prom: no such host';

test('the adapter cannot ask its source, or autoscalers of several teams stopped together', () => {
  for (const line of [
    blind,
    'failed to query: Get "https://monitor.azure.com": context deadline exceeded',
    'error listing metrics: 403 Forbidden',
  ])
    expect(findingsOf(rule, { subject, objects: [...around, hpa('web', 'shop')], logs: log(line) })[0]).toMatchObject({
      owner: 'platform',
      boundary: 'autoscaling',
      strength: 'derived',
    });
  const both = [...around, hpa('web', 'shop'), hpa('push', 'notify')];
  expect(findingsOf(rule, { subject, objects: both })[0]?.strength).toBe('derived');
  expect(findingsOf(rule, { subject, objects: both, logs: log(blind) })[0]?.strength).toBe('direct');
});

test('silent where the API is down, another autoscaler computes, or the failures have nothing in common', () => {
  expectSilent(rule, { subject, objects: [...adapter, pod, api('False'), hpa('web', 'shop')], logs: log(blind) });
  expectSilent(rule, {
    subject,
    objects: [...around, hpa('web', 'shop'), hpa('push', 'notify', { works: true })],
    logs: log(blind),
  });
  expectSilent(rule, { subject, objects: [...around, hpa('web', 'shop')] });
  expectSilent(rule, { subject, objects: [...around, hpa('web', 'shop'), hpa('push', 'notify', { ago: 600 })] });
});
