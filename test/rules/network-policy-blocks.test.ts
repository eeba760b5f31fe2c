import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/network-policy-blocks.ts';
import { alert, at, log, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const alerts = [alert('WebErrors')];
const web = pod('web-1', 'n1', { labels: { app: 'web' } });
const policy = (created: string, spec: Record<string, any>, rest: Record<string, any> = {}) =>
  object('NetworkPolicy', 'default-deny', {
    namespace: 'shop',
    creationTimestamp: created,
    spec: { podSelector: {}, policyTypes: ['Egress'], ...spec },
    ...rest,
  });
const lookup = log('web-1', 'getaddrinfo EAI_AGAIN db.shop.svc', 'shop');

test('a fresh policy without DNS, owned by whoever wrote it', () => {
  expect(
    findingsOf(rule, { subject, alerts, objects: [web, policy(at('08:00'), { egress: [] })], logs: [lookup] })[0],
  ).toMatchObject({ owner: 'app', mechanism: 'dns' });
  const written = policy(at('08:00'), { egress: [] });
  written.metadata.managedFields = [{ manager: 'terraform-provider-kubernetes', time: at('08:00') }];
  expect(findingsOf(rule, { subject, alerts, objects: [web, written], logs: [lookup] })[0]).toMatchObject({
    owner: 'platform',
  });
});

test('connections that time out', () => {
  const open = { egress: [{ ports: [{ port: 53 }] }] };
  expect(
    findingsOf(rule, {
      subject,
      alerts,
      objects: [web, policy(at('08:00'), open)],
      logs: [log('web-1', 'dial tcp 10.0.0.5:5432: i/o timeout', 'shop')],
    })[0],
  ).toMatchObject({ mechanism: 'network' });
});

test('stays silent on old policies, other pods, refusals, and policies that allow DNS', () => {
  expectSilent(rule, {
    subject,
    alerts,
    objects: [web, policy('2026-10-01T00:00:00Z', { egress: [] })],
    logs: [lookup],
  });
  expectSilent(rule, {
    subject,
    alerts,
    objects: [web, policy(at('08:00'), { podSelector: { matchLabels: { app: 'other' } } })],
    logs: [lookup],
  });
  expectSilent(rule, {
    subject,
    alerts,
    objects: [web, policy(at('08:00'), { egress: [] })],
    logs: [log('web-1', 'connect: connection refused', 'shop')],
  });
  expectSilent(rule, { subject, alerts, objects: [web, policy(at('08:00'), { egress: [{}] })], logs: [lookup] });
});

test('a policy that an engine writes into many namespaces is the platform’s, whatever team lives there', () => {
  const generated = policy(at('08:00'), { egress: [] }, { labels: { 'generate.kyverno.io/policy-name': 'deny' } });
  const copies = ['pension', 'health'].map((namespace) => {
    const copy = policy(at('08:03'), { egress: [] }, { uid: namespace });
    return { ...copy, metadata: { ...copy.metadata, namespace } };
  });
  for (const objects of [
    [web, generated],
    [web, policy(at('08:00'), { egress: [] }, { labels: { team: 'shop' } }), ...copies],
  ])
    expect(findingsOf(rule, { subject, alerts, objects, logs: [lookup] })[0]).toMatchObject({ owner: 'platform' });
});
