import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/webhook-denies-system-pods.ts';
import { at, node } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const cni = object('DaemonSet', 'calico-node', { namespace: 'kube-system' });
const webhook = object('ValidatingWebhookConfiguration', 'opa', {
  webhooks: [
    {
      name: 'validating.opa.io',
      namespaceSelector: { matchExpressions: [{ key: 'opa/webhook', operator: 'NotIn', values: ['ignore'] }] },
    },
  ],
});
const exempt = object('Namespace', 'monitoring', { labels: { 'opa/webhook': 'ignore' } });
const bare = object('Namespace', 'kube-system');
const fresh = node('n9', 'False', {
  message: 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady',
});
const subject = { kind: 'Node', name: 'n9' };

test('names the lost exemption and explains the node without a network', () => {
  bare.metadata.managedFields = [{ manager: 'terraform', time: at('05:30') }];
  const denied = event(
    cni,
    'FailedCreate',
    'Error creating: admission webhook "validating.opa.io" denied the request: host network is not allowed',
  );
  const [finding] = findingsOf(rule, { subject, objects: [cni, webhook, exempt, bare, fresh, denied] });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'admission', strength: 'direct' });
  expect(finding?.cause.en).toMatch(/opa\/webhook.*monitoring.*terraform/);
});

test('Pod Security and admission policies deny in their own words', () => {
  for (const text of [
    'pods "x" is forbidden: violates PodSecurity "restricted:latest": host namespaces',
    "ValidatingAdmissionPolicy 'no-host' with binding 'b' denied request: no",
  ])
    expect(
      findingsOf(rule, { subject, objects: [cni, fresh, event(cni, 'FailedCreate', `Error creating: ${text}`)] }),
    ).toHaveLength(1);
});

test('stays silent on an application’s denial', () => {
  const app = object('DaemonSet', 'agent', { namespace: 'shop' });
  expectSilent(rule, {
    subject,
    objects: [
      app,
      fresh,
      event(app, 'FailedCreate', 'Error creating: admission webhook "validating.opa.io" denied the request: no'),
    ],
  });
});
