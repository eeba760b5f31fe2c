import { expect, test } from 'vitest';
import rule from '../../src/rules/app/own-certificate-refused.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const service = object('Service', 'web', { namespace: 'shop', spec: { selector: { app: 'web' } } });
const volumes = { volumes: [{ name: 'tls', secret: { secretName: 'bank-client' } }] };
const own = podOf('web', 'a', { spec: { nodeName: 'node-1', ...volumes } });
const other = podOf('refunds', 'a', { namespace: 'money' });
const objects = [
  ...deployment('web', { spec: volumes }),
  ...deployment('refunds', { namespace: 'money' }),
  service,
  own,
  other,
];
const error = (words: string) => `2026-11-20T08:20:00.000Z ERROR POST https://api.bank.example/v4: ${words}`;
const judged = (words: string, ...logs: ReturnType<typeof logOf>[]) =>
  findingsOf(rule, { subject, objects, logs: [logOf(own, words), ...logs] });

test('the other side’s alert about the certificate it was shown, in every library’s words', () => {
  for (const words of [
    'remote error: tls: expired certificate',
    'error:0A000415:SSL routines::sslv3 alert certificate expired',
    'javax.net.ssl.SSLHandshakeException: Received fatal alert: certificate_expired',
    'received fatal alert: AlertReceived(CertificateExpired)',
  ]) {
    const [finding] = judged(error(words));
    expect(finding, words).toMatchObject({ owner: 'app', boundary: 'config', strength: 'derived' });
    expect(finding?.cause.en).toContain('bank-client');
  }
});

test('an end that the log states, or another caller who is served, leaves no doubt', () => {
  const ended = `2026-11-20T07:00:00.000Z WARN client certificate notAfter=2026-11-20T07:12:00Z\n${error('remote error: tls: expired certificate')}`;
  expect(judged(ended)[0]?.strength).toBe('direct');
  const served = logOf(other, '2026-11-20T08:21:00.000Z INFO refund accepted by api.bank.example 290ms');
  expect(judged(error('remote error: tls: expired certificate'), served)[0]?.strength).toBe('direct');
});

test('what cert-manager keeps names nobody yet', () => {
  const issued = object('Certificate', 'bank', { namespace: 'shop', spec: { secretName: 'bank-client' } });
  expect(
    findingsOf(rule, {
      subject,
      objects: [...objects, issued],
      logs: [logOf(own, error('remote error: tls: expired certificate'))],
    })[0]?.owner,
  ).toBe('undetermined');
});

test('silent for the other side’s certificate, for servers, for several namespaces and for old lines', () => {
  for (const words of [
    error('x509: certificate has expired or is not yet valid'),
    '2026-11-20T08:20:00.000Z http: TLS handshake error from 10.0.0.1:4431: remote error: tls: bad certificate',
    '2026-11-20T03:20:00.000Z ERROR POST https://api.bank.example: remote error: tls: expired certificate',
  ])
    expectSilent(rule, { subject, objects, logs: [logOf(own, words)] });
  const words = error('remote error: tls: expired certificate');
  expectSilent(rule, { subject, objects, logs: [logOf(own, words), logOf(other, words)] });
});
