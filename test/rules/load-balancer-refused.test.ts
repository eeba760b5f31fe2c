import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/load-balancer-refused.ts';
import { alert, at, owned, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const alerts = [alert('LoadBalancerPending', {}, 'has no external address')];
const service = object('Service', 'web', {
  namespace: 'shop',
  spec: { type: 'LoadBalancer', selector: { app: 'web' } },
});
const ingress = (name: string, namespace = 'shop') =>
  object('Ingress', name, { namespace, spec: { rules: [{ host: 'www.shop-exmaple.at' }] } });
const judged = (reason: string, message: string) =>
  findingsOf(rule, {
    subject: { kind: 'Service', name: 'web', namespace: 'shop' },
    alerts,
    objects: [service, event(service, reason, message)],
  })[0];

test('limits, permissions and networks are the platform’s', () => {
  for (const [message, boundary] of [
    [
      'Error syncing load balancer: ERROR CODE: PublicIPCountLimitReached: Cannot create more than 100 public IPs',
      'quota',
    ],
    ['googleapi: Error 403: QUOTA_EXCEEDED - Quota FORWARDING_RULES exceeded. Forbidden', 'quota'],
    ['TooManyLoadBalancers: The maximum number of load balancers has been reached', 'quota'],
    ['api error AccessDenied: not authorized to perform: elasticloadbalancing:CreateRule', 'config'],
    ["couldn't auto-discover subnets: unable to resolve at least one subnet", 'network'],
    ['Multiple tagged security groups found for instance i-0abc', 'network'],
  ])
    expect(judged('SyncLoadBalancerFailed', message!)).toMatchObject({
      owner: 'platform',
      boundary,
      strength: 'direct',
    });
});

test('what the object itself asks for is its owner’s', () => {
  for (const message of [
    'Failed build model due to ingress: shop/web: no certificate found for host: www.shop-exmaple.at',
    'Failed build model due to ingress: shop/web: services "wbe" not found',
    'Translation failed: could not find service "shop/wbe"',
  ]) {
    const web = ingress('web');
    expect(
      findingsOf(rule, {
        subject: { kind: 'Ingress', name: 'web', namespace: 'shop' },
        alerts,
        objects: [web, event(web, 'FailedBuildModel', message)],
      })[0],
    ).toMatchObject({ owner: 'app', boundary: 'config' });
  }
});

test('server errors over several namespaces are the vendor’s, and reach the controller', () => {
  const all = ['shop', 'blog'].map((namespace) => ingress(`${namespace}-web`, namespace));
  const failed = 'operation error Elastic Load Balancing v2: ModifyRule, StatusCode: 503, api error ServiceUnavailable';
  const controller = pod('aws-load-balancer-controller-1', 'n1', {
    namespace: 'kube-system',
    ...owned('Deployment', 'aws-load-balancer-controller'),
  });
  const deployment = object('Deployment', 'aws-load-balancer-controller', { namespace: 'kube-system' });
  const [finding] = findingsOf(rule, {
    subject: { kind: 'Namespace', name: 'kube-system', namespace: 'kube-system' },
    alerts,
    objects: [...all, controller, deployment, ...all.map((entry) => event(entry, 'FailedDeployModel', failed))],
  });
  expect(finding).toMatchObject({ owner: 'cloud', boundary: 'network', strength: 'direct' });
  expect(finding?.affects).toContainEqual(expect.objectContaining({ name: 'aws-load-balancer-controller' }));
});

test('stays silent on old refusals, throttling and other reasons', () => {
  const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
  for (const entry of [
    event(service, 'SyncLoadBalancerFailed', 'QUOTA_EXCEEDED', { at: at('05:00') }),
    event(service, 'FailedDeployModel', 'api error TooManyRequestsException: Rate exceeded'),
    event(service, 'FailedToUpdateEndpoint', 'quota'),
  ])
    expectSilent(rule, { subject, alerts, objects: [service, entry] });
});
