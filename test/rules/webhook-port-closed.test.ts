import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/webhook-port-closed.ts';
import { log, pod } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'deployer-1', namespace: 'argocd' };
const failed = (end = 'context deadline exceeded') =>
  log(
    'deployer-1',
    `Internal error occurred: failed calling webhook "validate.example.io": failed to call webhook: Post "https://hook.hooks.svc:443/validate?timeout=10s": ${end}`,
    'argocd',
  );
const situation = (targetPort: number | string, ready: 'True' | 'False' = 'True') => [
  pod('deployer-1', 'n1', { namespace: 'argocd' }),
  pod('hook-1', 'n1', {
    namespace: 'hooks',
    ready,
    labels: { app: 'hook' },
    spec: { containers: [{ name: 'app', ports: [{ name: 'webhook', containerPort: 9443 }] }] },
  }),
  object('Service', 'hook', {
    namespace: 'hooks',
    spec: { selector: { app: 'hook' }, ports: [{ port: 443, targetPort }] },
  }),
  object('ValidatingWebhookConfiguration', 'hooks', {
    webhooks: [
      {
        name: 'validate.example.io',
        failurePolicy: 'Fail',
        clientConfig: { service: { namespace: 'hooks', name: 'hook', port: 443 } },
      },
    ],
  }),
];
const metrics = (status: string) =>
  object('APIService', 'v1beta1.metrics.k8s.io', {
    spec: { group: 'metrics.k8s.io', service: { namespace: 'kube-system', name: 'metrics-server' } },
    status: { conditions: [condition('Available', status)] },
  });

test('a port of its own times out while calls to other ports arrive, by number or by name', () => {
  for (const port of [8443, 'webhook'])
    for (const provider of ['gke', 'eks', 'aks'] as const)
      expect(
        findingsOf(rule, { provider, subject, objects: [...situation(port), metrics('True')], logs: [failed()] })[0],
      ).toMatchObject({ owner: 'platform', boundary: 'network', strength: 'derived' });
});

test('stays silent where nothing arrives, the port is open by default, the backend is down or refuses', () => {
  const judged = (objects: any[], line = failed()) =>
    expectSilent(rule, { provider: 'gke', subject, objects, logs: [line] });
  judged([...situation(8443), metrics('False')]);
  judged([...situation(10250), metrics('True')]);
  judged([...situation(8443, 'False'), metrics('True')]);
  judged([...situation(8443), metrics('True')], failed('connect: connection refused'));
});
