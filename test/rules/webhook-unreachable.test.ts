import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/webhook-unreachable.ts';
import { at, log, node, owned, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const webhook = (namespace: string, rest: Record<string, any> = {}) =>
  object('ValidatingWebhookConfiguration', 'policy', {
    webhooks: [
      {
        name: 'check.policy.io',
        failurePolicy: 'Fail',
        clientConfig: { service: { namespace, name: 'policy' } },
        rules: [{ apiGroups: [''], resources: ['pods'] }],
        ...rest,
      },
    ],
  });
const slice = (namespace: string, ready: boolean) =>
  object('EndpointSlice', 'policy-1', {
    namespace,
    labels: { 'kubernetes.io/service-name': 'policy' },
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready }, targetRef: { name: 'policy-1-a' } }],
  });
const backend = (namespace: string, team: string) => [
  object('Deployment', 'policy', { namespace, labels: { team }, spec: { template: { spec: {} } } }),
  object('ReplicaSet', 'policy-1', { namespace, ...owned('Deployment', 'policy') }),
  pod('policy-1-a', 'n1', { namespace, ready: 'False', ...owned('ReplicaSet', 'policy-1') }),
];
const set = object('ReplicaSet', 'web-1', { namespace: 'shop', ...owned('Deployment', 'web') });
const web = object('Deployment', 'web', { namespace: 'shop' });
const refused = (text: string, regarding = set) =>
  event(
    regarding,
    'FailedCreate',
    `Error creating: Internal error occurred: failed calling webhook "check.policy.io": failed to call webhook: Post "https://policy.policy.svc:443/": ${text}`,
    { at: at('08:25') },
  );
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };

test('reaches the workload whose own log tells of the refusal, and cites the injector that is down', () => {
  const operator = pod('operator-a', 'n1', { namespace: 'tenants' });
  const injector = pod('cert-manager-cainjector-a', 'n1', { namespace: 'cert-manager', ready: 'False' });
  const told = log(
    'operator-a',
    '2026-11-20T08:20:00Z ERROR create Certificate: Internal error occurred: failed calling webhook "check.policy.io": failed to call webhook: Post "https://policy.policy.svc:443/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    'tenants',
  );
  const found = findingsOf(rule, {
    subject: { kind: 'Pod', name: 'operator-a', namespace: 'tenants' },
    objects: [webhook('policy'), operator, injector, ...backend('policy', 'platform')],
    logs: [told],
  })[0];
  expect(found).toMatchObject({ owner: 'platform', mechanism: 'webhook' });
  expect(found!.affects).toContainEqual(expect.objectContaining({ kind: 'Pod', name: 'operator-a' }));
  expect(JSON.stringify(found!.evidence)).toContain('cainjector');
});

test('in every wording of a backend that is not there, the owner is the backend’s', () => {
  for (const text of [
    'no endpoints available for service "policy"',
    'context deadline exceeded',
    'dial tcp 10.0.0.1:443: connect: connection refused',
    'x509: certificate has expired or is not yet valid: current time 2026-11-20T08:25:00Z is after 2026-11-19T00:00:00Z',
  ])
    for (const [team, owner] of [
      ['platform', 'platform'],
      ['checkout', 'app'],
    ] as const)
      expect(
        findingsOf(rule, {
          subject,
          objects: [web, set, refused(text), webhook('policy'), slice('policy', false), ...backend('policy', team)],
        })[0],
      ).toMatchObject({ owner, boundary: 'admission', strength: 'direct' });
});

test('one that holds up leases or system pods explains silent nodes', () => {
  const daemon = object('DaemonSet', 'kube-proxy', { namespace: 'kube-system' });
  const lost = node('n2', 'Unknown');
  const [finding] = findingsOf(rule, {
    subject: { kind: 'Node', name: 'n2' },
    objects: [
      lost,
      daemon,
      refused('no endpoints available for service "policy"', daemon),
      webhook('policy', { rules: [{ apiGroups: ['*'], resources: ['*'] }] }),
      slice('policy', false),
    ],
  });
  expect(finding?.explains).toContain('node-silent');
  expect(finding?.affects).toContainEqual(expect.objectContaining({ kind: 'Node', name: 'n2' }));
});

test('a backend that is ready and does not answer is only derived; failurePolicy Ignore refuses nothing', () => {
  const objects = [web, set, refused('context deadline exceeded'), slice('policy', true)];
  expect(findingsOf(rule, { subject, objects: [...objects, webhook('policy')] })[0]).toMatchObject({
    strength: 'derived',
  });
  expectSilent(rule, { subject, objects: [...objects, webhook('policy', { failurePolicy: 'Ignore' })] });
});

test('stays silent when the webhook answered and denied', () => {
  expectSilent(rule, {
    subject,
    objects: [
      web,
      set,
      webhook('policy'),
      event(set, 'FailedCreate', 'Error creating: admission webhook "check.policy.io" denied the request: no'),
    ],
  });
});

test('a dead webhook over leases needs no witness while nodes are lost, and is only derived then', () => {
  const all = webhook('policy', { rules: [{ apiGroups: ['*'], resources: ['*'] }] });
  const lost = { subject: { kind: 'Node', name: 'n2' }, objects: [node('n2', 'Unknown'), all, slice('policy', false)] };
  expect(findingsOf(rule, lost)[0]).toMatchObject({ owner: 'platform', strength: 'derived' });
  expectSilent(rule, { ...lost, objects: [node('n2', 'Unknown'), all, slice('policy', true)] });
  expectSilent(rule, { ...lost, objects: [node('n2', 'True'), all, slice('policy', false)] });
});
