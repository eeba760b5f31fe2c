import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/forwarder-unanswered.ts';
import { at, log, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const web = pod('web-1', 'n1');
const resolver = pod('coredns-1', 'n1', { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } });
const complaint = log('web-1', 'getaddrinfo EAI_AGAIN sap.corp.example', 'shop');
const timeouts = (upstream: string, names = ['sap', 'hr'], end = 'i/o timeout') =>
  log(
    'coredns-1',
    names
      .map((name) => `[ERROR] plugin/errors: 2 ${name}.corp.example. A: read udp 10.0.0.3:5010->${upstream}:53: ${end}`)
      .join('\n'),
  );
const configured = (data: Record<string, string>, time: string) => {
  const configuration = object('ConfigMap', 'coredns-custom', { namespace: 'kube-system', data });
  configuration.metadata.managedFields = [{ manager: 'terraform', time }];
  return configuration;
};
const stub = { 'corp.server': 'corp.example:53 {\n errors\n forward . 10.250.9.9\n}\n' };

test('a zone whose servers were changed shortly before, one set long ago, and servers that no configuration names', () => {
  const judged = (...objects: ReturnType<typeof configured>[]) =>
    findingsOf(rule, {
      provider: 'aks',
      subject,
      objects: [web, resolver, ...objects],
      logs: [complaint, timeouts('10.250.9.9')],
    })[0];
  expect(judged(configured(stub, at('08:00')))).toMatchObject({
    owner: 'platform',
    boundary: 'dns',
    strength: 'direct',
  });
  expect(judged(configured(stub, at('08:00')))?.cause.en).toContain('corp.example to 10.250.9.9');
  expect(judged(configured(stub, '2026-01-01T00:00:00Z'))?.strength).toBe('derived');
  expect(judged()?.cause.en).toContain('corp.example');
});

test('on an own cluster every server is the organisation’s', () => {
  expect(
    findingsOf(rule, {
      provider: 'self',
      subject,
      objects: [web, resolver],
      logs: [complaint, timeouts('10.1.0.2')],
    })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('stays silent on the vendor’s resolver and on a single lost answer', () => {
  for (const lines of [timeouts('10.1.0.2'), timeouts('169.254.169.253'), timeouts('10.250.9.9', ['sap'])])
    expectSilent(rule, { subject, objects: [web, resolver], logs: [complaint, lines] });
});
