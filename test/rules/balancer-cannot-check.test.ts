import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/balancer-cannot-check.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const pod = podOf('web', 'a');
const objects = [...deployment('web'), pod];
const ingress = object('Ingress', 'web', { namespace: 'shop' });
const wall = (message: string, at = minutesAgo(5)) => event(ingress, 'XPN', message, { at });

test('a closed way to ready backends is the platform’s', () => {
  const said = wall('Firewall change required by network admin: `gcloud compute firewall-rules create k8s-fw`');
  expect(findingsOf(rule, { provider: 'gke', subject, objects: [...objects, ingress, said] })).toMatchObject([
    { owner: 'platform', boundary: 'network', strength: 'direct', root: { kind: 'Ingress' } },
  ]);
});

test.each(['"GET /healthz" 404 "GoogleHC/1.0"', 'GET / 401 ELB-HealthChecker/2.0', 'GET /h 500 "Load Balancer Agent"'])(
  'a check that the ready application refuses is about the path: %s',
  (words) => {
    expect(findingsOf(rule, { subject, objects, logs: [logOf(pod, words)] })).toMatchObject([
      { owner: 'app', boundary: 'probe', strength: 'derived' },
    ]);
  },
);

test('stays silent where the check passes, the pods are unready, or the request to open the way is old', () => {
  expectSilent(rule, { subject, objects, logs: [logOf(pod, '"GET /healthz" 200 "GoogleHC/1.0"')] });
  const sick = podOf('web', 'a', { ready: false });
  expectSilent(rule, {
    subject,
    objects: [...deployment('web'), sick],
    logs: [logOf(sick, 'GET / 404 "GoogleHC/1.0"')],
  });
  expectSilent(rule, {
    subject,
    objects: [...objects, ingress, wall('Firewall change required by network admin', minutesAgo(200))],
  });
});
