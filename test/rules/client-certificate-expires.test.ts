import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/client-certificate-expires.ts';
import { alert, log, node, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const cluster = { kind: 'Cluster' } as const;

test('a kubelet’s certificate that is not renewed is the platform’s', () => {
  for (const name of [
    'KubeletClientCertificateExpiration',
    'KubeletServerCertificateExpiration',
    'KubeletServerCertificateRenewalErrors',
  ]) {
    const [finding] = findingsOf(rule, {
      subject: { kind: 'Node', name: 'n1' },
      alerts: [alert(name, { node: 'n1' })],
      objects: [node('n1')],
      series: [series('kubelet_certificate_manager_client_ttl_seconds', { node: 'n1' }, [86_500, 86_400])],
    });
    expect(finding).toMatchObject({ owner: 'platform', boundary: 'node', strength: 'direct' });
  }
});

test('whose client certificate runs out no metric tells', () => {
  for (const provider of ['eks', 'self'] as const)
    expect(
      findingsOf(rule, { provider, subject: cluster, alerts: [alert('KubeClientCertificateExpiration')] })[0],
    ).toMatchObject({ owner: 'undetermined', missing: [{ layer: 'platform' }] });
});

test.each([
  [
    'etcd-cp-1',
    'rejected connection from "10.0.0.4:51234" (error "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-20T08:00:00Z is after 2026-11-19T23:00:00Z", ServerName "")',
  ],
  [
    'kube-controller-manager-cp-1',
    'E1120 08:20:00 leaderelection.go:332] error retrieving resource lock: Get "https://10.0.0.2:6443/apis": x509: certificate has expired or is not yet valid',
  ],
])('%s of a self-managed control plane: the platform', (name, line) => {
  expect(findingsOf(rule, { provider: 'self', subject: cluster, logs: [log(name, line)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    boundary: 'control-plane',
  });
});

test('stays silent on a webhook’s or an aggregated API’s certificate, on others’ logs, and on managed control planes', () => {
  const line = 'x509: certificate has expired or is not yet valid';
  expectSilent(rule, {
    provider: 'self',
    subject: cluster,
    logs: [log('kube-apiserver-cp-1', `failed calling webhook "a": ${line}`)],
  });
  expectSilent(rule, {
    provider: 'self',
    subject: cluster,
    logs: [log('kube-apiserver-cp-1', `apiservice v1.x not available: ${line}`)],
  });
  expectSilent(rule, { provider: 'self', subject: cluster, logs: [log('orders-1', line, 'shop')] });
  expectSilent(rule, { provider: 'eks', subject: cluster, logs: [log('kube-controller-manager-1', line)] });
});
