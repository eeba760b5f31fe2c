import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/load-balancer-not-reconciled.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const service = object('Service', 'web', { namespace: 'shop', spec: { selector: { app: 'web' } } });
const app = [...deployment('web'), podOf('web', 'a'), service];
const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const judged = (message: string, reason = 'SyncLoadBalancerFailed') =>
  findingsOf(rule, { subject, objects: [...app, event(service, reason, message, { at: minutesAgo(2) })] })[0];

test('what the cloud refuses says whose matter it is, on each provider', () => {
  for (const [message, owner, boundary] of [
    ['ERROR CODE: PublicIPCountLimitReached Cannot create more than 20 public IP addresses', 'platform', 'quota'],
    ['TooManyLoadBalancers: The maximum number of load balancers has been reached', 'platform', 'quota'],
    ["googleapi: Error 403: Quota 'IN_USE_ADDRESSES' exceeded. Limit: 8.0 in region", 'platform', 'quota'],
    ['api error AccessDenied: User is not authorized to perform: elasticloadbalancing:X', 'platform', 'traffic'],
    ['unable to resolve at least one subnet (0 match VPC and tags)', 'platform', 'network'],
    ['ValidationError: Certificate ARN arn:x is not valid', 'app', 'config'],
    ['RESPONSE 503: ServiceUnavailable', 'cloud', 'traffic'],
    ['something else', 'undetermined', 'traffic'],
  ] as const)
    expect(judged(message), message).toMatchObject({ owner, boundary });
});

test('pods whose containers are ready wait for a gate that a refused binding leaves open', () => {
  const binding = object('TargetGroupBinding', 'k8s-web', { namespace: 'shop' });
  const gated = podOf('web', 'b', {
    ready: false,
    spec: { nodeName: 'n', readinessGates: [{ conditionType: 'target-health.elbv2.k8s.aws/k8s-web' }], containers: [] },
  });
  gated.status.conditions = [
    condition('ContainersReady', 'True'),
    condition('Ready', 'False', 'ReadinessGatesNotReady'),
  ];
  const said = event(binding, 'FailedNetworkReconcile', 'api error UnauthorizedOperation: not permitted', {
    at: minutesAgo(2),
  });
  const [finding] = findingsOf(rule, {
    subject: { kind: 'Pod', name: 'web-2-b', namespace: 'shop' },
    objects: [...deployment('web'), gated, said],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(finding?.affects).toContainEqual(expect.objectContaining({ kind: 'Pod', name: 'web-2-b' }));
});

test('silent for a refusal that ended, and for other warnings', () => {
  expectSilent(rule, {
    subject,
    objects: [...app, event(service, 'SyncLoadBalancerFailed', 'quota exceeded', { at: minutesAgo(120) })],
  });
  expectSilent(rule, { subject, objects: [...app, event(service, 'FailedToUpdateEndpoint', 'AccessDenied')] });
});

test('server errors to objects of several namespaces reach the controller; an object’s own fault stays its owner’s', () => {
  const words = 'operation error Elastic Load Balancing v2: ModifyRule, StatusCode: 503, api error ServiceUnavailable';
  const ingresses = ['shop', 'blog'].map((namespace) => object('Ingress', `${namespace}-web`, { namespace }));
  const controller = object('Deployment', 'aws-load-balancer-controller', { namespace: 'kube-system' });
  const refused = (list: typeof ingresses) => list.map((entry) => event(entry, 'FailedDeployModel', words));
  const alert = { kind: 'Deployment', name: 'aws-load-balancer-controller', namespace: 'kube-system' };
  const [finding] = findingsOf(rule, { subject: alert, objects: [...ingresses, controller, ...refused(ingresses)] });
  expect(finding).toMatchObject({ owner: 'cloud', strength: 'direct' });
  expect(finding?.affects).toContainEqual(expect.objectContaining({ name: 'aws-load-balancer-controller' }));
  const [alone] = findingsOf(rule, {
    subject: alert,
    objects: [ingresses[0]!, controller, ...refused([ingresses[0]!])],
  });
  expect(alone).toMatchObject({ strength: 'derived' });
  expect(alone?.affects).not.toContainEqual(expect.objectContaining({ name: 'aws-load-balancer-controller' }));
  const own = object('Ingress', 'grafana', { namespace: 'monitoring' });
  const typo = event(own, 'FailedBuildModel', 'no certificate found for host: www.exmaple.org');
  expect(findingsOf(rule, { subject, objects: [own, typo] })[0]).toMatchObject({
    owner: 'platform',
    boundary: 'config',
  });
});
