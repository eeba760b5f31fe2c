import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/network-policy-shuts-callers-out.ts';
import { alert, at, log, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const alerts = [alert('IngressHigh5xx')];
const status = { podIP: '10.0.0.7', phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const web = pod('web-1', 'n1', { labels: { app: 'web' }, status });
const service = object('Service', 'web', {
  namespace: 'shop',
  spec: { selector: { app: 'web' }, clusterIP: '172.20.0.9' },
});
const ingress = object('Ingress', 'web', {
  namespace: 'shop',
  spec: {
    rules: [
      { host: 'shop.example.com', http: { paths: [{ backend: { service: { name: 'web', port: { number: 80 } } } }] } },
    ],
  },
});
const controller = pod('nginx-1', 'n1', { namespace: 'ingress-nginx', labels: { app: 'nginx' } });
const homes = ['ingress-nginx', 'shop', 'pay'].map((name) =>
  object('Namespace', name, { labels: { 'kubernetes.io/metadata.name': name } }),
);
const byName = (name: string) => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } });
const policy = (from: any[], written = at('08:15'), manager = 'argocd-platform-baseline') => {
  const made = object('NetworkPolicy', 'baseline', {
    namespace: 'shop',
    creationTimestamp: written,
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }, ...from] }] },
  });
  made.metadata.managedFields = [{ manager, time: written }];
  return made;
};
const nginx =
  'upstream timed out (110: Operation timed out) while connecting to upstream, upstream: "http://10.0.0.7:8080/"';
const situation = (made: any, ...logs: any[]) => ({
  subject,
  alerts,
  objects: [web, service, ingress, controller, ...homes, made],
  logs,
});

test('a baseline that forgets the ingress controller; a caller in another namespace by the Service’s name', () => {
  expect(
    findingsOf(rule, situation(policy([byName('ingress')]), log('nginx-1', nginx, 'ingress-nginx')))[0],
  ).toMatchObject({ owner: 'platform', boundary: 'network', mechanism: 'network', strength: 'direct' });
  const other = pod('pay-1', 'n1', { namespace: 'pay' });
  const called = situation(
    policy([byName('ingress-nginx')]),
    log('pay-1', 'dial tcp web.shop.svc:80: i/o timeout', 'pay'),
  );
  expect(findingsOf(rule, { ...called, objects: [...called.objects, other] })[0]).toMatchObject({ owner: 'platform' });
  expect(
    findingsOf(
      rule,
      situation(policy([]), log('nginx-1', 'upstream timed out, host shop.example.com', 'ingress-nginx')),
    )[0],
  ).toMatchObject({ owner: 'platform' });
});

test('a policy that the team’s own pipeline wrote is the team’s', () => {
  const own = policy([byName('ingress')], at('08:15'), 'shop-deploy');
  expect(findingsOf(rule, situation(own, log('nginx-1', nginx, 'ingress-nginx')))[0]).toMatchObject({ owner: 'app' });
});

test('silent where the caller is admitted, answered, or the policy is old', () => {
  const lines = log('nginx-1', nginx, 'ingress-nginx');
  expectSilent(rule, situation(policy([byName('ingress-nginx')]), lines));
  expectSilent(rule, situation(policy([{ ipBlock: { cidr: '10.0.0.0/8' } }]), lines));
  expectSilent(rule, situation(policy([], '2026-10-01T00:00:00Z'), lines));
  expectSilent(
    rule,
    situation(
      policy([]),
      log('nginx-1', 'connect() failed (111: Connection refused), upstream: "http://10.0.0.7:8080/"', 'ingress-nginx'),
    ),
  );
  expectSilent(rule, situation(policy([]), log('nginx-1', nginx.replace('10.0.0.7', '10.0.0.71'), 'ingress-nginx')));
});
