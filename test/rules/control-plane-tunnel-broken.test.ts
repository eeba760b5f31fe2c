import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/control-plane-tunnel-broken.ts';
import { at, log, node, owned, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const web = object('Deployment', 'web', { namespace: 'shop' });
const set = object('ReplicaSet', 'web-1', { namespace: 'shop', ...owned('Deployment', 'web') });
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const configuration = object('ValidatingWebhookConfiguration', 'admit', {
  webhooks: [
    { name: 'admit.io', failurePolicy: 'Fail', clientConfig: { service: { namespace: 'policy', name: 'admit' } } },
  ],
});
const slice = (ready: boolean) =>
  object('EndpointSlice', 'admit-1', {
    namespace: 'policy',
    labels: { 'kubernetes.io/service-name': 'admit' },
    endpoints: [{ conditions: { ready } }],
  });
const refused = (text: string) =>
  event(
    set,
    'FailedCreate',
    `Error creating: Internal error occurred: failed calling webhook "admit.io": failed to call webhook: Post "https://admit.policy.svc:443/": ${text}`,
    { at: at('08:25') },
  );
const api = object('APIService', 'v1beta1.metrics.k8s.io', {
  spec: { service: { namespace: 'kube-system', name: 'metrics-server' } },
  status: {
    conditions: [
      condition('Available', 'False', 'FailedDiscoveryCheck', 'Get "https://10.0.0.1:4443": context deadline exceeded'),
    ],
  },
});
const server = pod('metrics-server-1', 'n1', { namespace: 'kube-system' });
const kubelet = log(
  'operator',
  'error: Get "https://n1:10250/containerLogs": dial tcp 10.0.0.9:10250: connect: connection timed out',
);
const base = [web, set, configuration, node('n1'), node('n2')];

test('several independent things on one path fail while all that they call is ready', () => {
  for (const [provider, owner] of [
    ['aks', 'cloud'],
    ['gke', 'cloud'],
    ['self', 'platform'],
  ] as const)
    expect(
      findingsOf(rule, {
        provider,
        subject,
        objects: [
          ...base,
          slice(true),
          refused('read unix @->/tunnel-uds/socket: read: connection reset by peer'),
          api,
          server,
        ],
        logs: [kubelet],
      })[0],
    ).toMatchObject({ owner, mechanism: 'tunnel', strength: 'direct' });
});

test('agents that do not run on the customer’s nodes are the platform’s', () => {
  const agent = pod('konnectivity-agent-1', undefined, { namespace: 'kube-system', ready: 'False' });
  expect(
    findingsOf(rule, {
      provider: 'gke',
      subject,
      objects: [...base, slice(true), refused('No agent available'), api, server, agent],
      logs: [kubelet],
    })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('stays silent when one webhook fails alone, its backend is down, or the nodes are gone', () => {
  expectSilent(rule, {
    provider: 'aks',
    subject,
    objects: [...base, slice(true), refused('context deadline exceeded')],
  });
  expectSilent(rule, {
    provider: 'aks',
    subject,
    objects: [...base, slice(false), refused('context deadline exceeded'), api, server],
  });
  expectSilent(rule, {
    provider: 'aks',
    subject,
    objects: [
      web,
      set,
      configuration,
      node('n1', 'Unknown'),
      node('n2', 'Unknown'),
      slice(true),
      refused('tunnel-uds timeout'),
      api,
      server,
    ],
    logs: [kubelet],
  });
});
