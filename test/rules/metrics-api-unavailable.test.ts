import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/metrics-api-unavailable.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { crashing, deployment, podOf } from './workloads.ts';

const message =
  'failed to get cpu utilization: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)';
const hpa = (text = message) =>
  object('HorizontalPodAutoscaler', 'web', {
    namespace: 'shop',
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    status: { conditions: [condition('ScalingActive', 'False', 'FailedGetResourceMetric', text)] },
  });
const api = (reason: string) =>
  object('APIService', 'v1beta1.metrics.k8s.io', {
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { namespace: 'kube-system', name: 'metrics-server' },
    },
    status: { conditions: [condition('Available', reason === 'Passed' ? 'True' : 'False', reason)] },
  });
const server = deployment('metrics-server', { namespace: 'kube-system' });
const sick = podOf('metrics-server', 'a', {
  namespace: 'kube-system',
  ready: false,
  status: crashing(137, 'OOMKilled'),
});
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = [...deployment('web'), podOf('web', 'a')];

test('a metrics server that is down blinds the autoscalers; readyz has nothing to do with it', () => {
  const [finding] = findingsOf(rule, { subject, objects: [...app, hpa(), api('MissingEndpoints'), ...server, sick] });
  expect(finding).toMatchObject({
    owner: 'platform',
    boundary: 'autoscaling',
    strength: 'direct',
    root: { name: 'metrics-server' },
  });
  expect(finding?.evidence.some((entry) => entry.value.includes('OOMKilled'))).toBe(true);
});

test('an APIService as subject is enough, without any autoscaler', () => {
  const found = findingsOf(rule, {
    subject: { kind: 'APIService', name: 'v1beta1.metrics.k8s.io' },
    objects: [api('MissingEndpoints'), ...server, sick],
  });
  expect(found[0]?.owner).toBe('platform');
});

test('ready pods that cannot be reached put the way in question, not the metrics server', () => {
  const well = podOf('metrics-server', 'b', { namespace: 'kube-system' });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...app, hpa(), api('FailedDiscoveryCheck'), ...server, well],
  });
  expect(finding).toMatchObject({ owner: 'undetermined', strength: 'circumstantial' });
});

test('stays silent for a pod without a request: the API answered', () => {
  expectSilent(rule, {
    subject,
    objects: [
      ...app,
      hpa('failed to get cpu utilization: missing request for cpu in container app of Pod web-2-a'),
      api('Passed'),
      ...server,
    ],
  });
});
