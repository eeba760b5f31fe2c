import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-certificate-expired.ts';
import { at, log, node, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const lost = node('n1', 'Unknown', { since: at('08:03') });
const refusal = log(
  'kube-apiserver-cp1',
  'E1120 08:10:00.0 1 authentication.go:73] "Unable to authenticate the request" err="[x509: certificate has expired or is not yet valid]"',
);
const check = pod('node-check-1', 'n1', { namespace: 'node-tools' });

test('the API server refuses expired certificates; the node or the kubelet’s own gauge says so', () => {
  expect(findingsOf(rule, { provider: 'self', subject, objects: [lost], logs: [refusal] })[0]).toMatchObject({
    owner: 'platform',
    boundary: 'node',
    strength: 'derived',
  });
  expect(
    findingsOf(rule, {
      provider: 'self',
      subject,
      objects: [lost, check],
      logs: [refusal, log('node-check-1', 'kubelet running; register node err="Unauthorized"', 'node-tools')],
    })[0],
  ).toMatchObject({ strength: 'direct' });
  expect(
    findingsOf(rule, {
      subject,
      objects: [lost],
      series: [series('kubelet_certificate_manager_client_ttl_seconds', { node: 'n1' }, [300, 0, -60])],
    })[0],
  ).toMatchObject({ owner: 'platform', strength: 'direct' });
});

test('stays silent for nodes that are well, and for silence without a refusal', () => {
  expectSilent(rule, { provider: 'self', subject, objects: [node('n1')], logs: [refusal] });
  expectSilent(rule, {
    provider: 'self',
    subject,
    objects: [lost],
    logs: [log('kube-apiserver-cp1', 'http2: stream closed')],
  });
});
