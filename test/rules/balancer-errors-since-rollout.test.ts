import { expect, test } from 'vitest';
import rule from '../../src/rules/app/balancer-errors-since-rollout.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const released = deployment('web', {
  age: 90,
  container: { env: [{ name: 'KEEPALIVE_MS', value: '5000' }] },
  before: { container: { env: [{ name: 'KEEPALIVE_MS', value: '75000' }] } },
});
const service = object('Service', 'web', { namespace: 'shop', spec: { selector: { app: 'web' } } });
const ingress = object('Ingress', 'web', {
  namespace: 'shop',
  spec: { rules: [{ http: { paths: [{ backend: { service: { name: 'web' } } }] } }] },
  status: { loadBalancer: { ingress: [{ hostname: 'k8s-shop-web-9f3a-1234567890.eu-west-2.elb.amazonaws.com' }] } },
});
const errors = (name: string, since: number, metric = 'HTTPCode_ELB_502_Count') => ({
  namespace: 'AWS/ApplicationELB',
  metric,
  dimensions: { LoadBalancer: `app/${name}/1b2c` },
  stat: 'Sum',
  periodSeconds: 300,
  points: Array.from({ length: 30 }, (_, index): [string, number] => {
    const age = (29 - index) * 8;
    return [minutesAgo(age), age > since ? 0 : 214];
  }),
});
const objects = [...released, podOf('web', 'a', { age: 89 }), service, ingress];
const own = 'k8s-shop-web-9f3a';

test('errors of the own balancer, and only of that, step up with the rollout', () => {
  for (const metric of ['HTTPCode_ELB_502_Count', 'HTTPCode_Target_5XX_Count', 'TargetConnectionErrorCount'])
    expect(findingsOf(rule, { subject, objects, cloudWatch: [errors(own, 88, metric)] })[0]).toMatchObject({
      owner: 'app',
      boundary: 'config',
      strength: 'derived',
    });
});

test('stays silent where another balancer is hit too, the step is elsewhere, or a pod is not ready', () => {
  expectSilent(rule, { subject, objects, cloudWatch: [errors(own, 88), errors('k8s-other', 88)] });
  expectSilent(rule, { subject, objects, cloudWatch: [errors(own, 200)] });
  expectSilent(rule, { subject, objects, cloudWatch: [errors('k8s-other', 88)] });
  expectSilent(rule, {
    subject,
    objects: [...objects, podOf('web', 'b', { ready: false })],
    cloudWatch: [errors(own, 88)],
  });
});
