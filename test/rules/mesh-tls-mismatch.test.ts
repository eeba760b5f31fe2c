import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/platform/mesh-tls-mismatch.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const withProxy = (name: string) => [
  { name: 'app', image: `${name}:1` },
  { name: 'istio-proxy', image: 'proxyv2' },
];
const pod = (name: string, meshed: boolean): KubeObject =>
  podOf(name, 'a', meshed ? { containers: withProxy(name) } : {});
const written = (made: KubeObject, age: number, manager = 'kubectl-edit'): KubeObject => {
  made.metadata.managedFields = [{ manager, operation: 'Update', time: minutesAgo(age) }];
  return made;
};
const peers = (mode: string, namespace = 'shop', age = 9000) =>
  written(object('PeerAuthentication', 'default', { namespace, spec: { mtls: { mode } } }), age);
const destination = (mode: string, age = 15) =>
  written(
    object('DestinationRule', 'api', { namespace: 'shop', spec: { host: 'api', trafficPolicy: { tls: { mode } } } }),
    age,
  );
const refused =
  '"GET /v1 HTTP/1.1" 503 UF upstream_reset_before_response_started{connection_failure,TLS_error:|268435703:SSL_routines:OPENSSL_internal:WRONG_VERSION_NUMBER} outbound|8080||api.shop.svc.cluster.local';

const judged = (options: { client?: boolean; server?: boolean; objects: KubeObject[]; line?: string }) => {
  const client = pod('web', options.client ?? true);
  return findingsOf(rule, {
    subject,
    objects: [
      ...deployment('web'),
      ...deployment('api'),
      client,
      pod('api', options.server ?? true),
      object('Service', 'api', { namespace: 'shop', spec: { selector: { app: 'api' } } }),
      ...options.objects,
    ],
    logs: [logOf(client, options.line ?? refused, { container: (options.client ?? true) ? 'istio-proxy' : 'app' })],
  });
};

test('of a DestinationRule and a PeerAuthentication that disagree, the one changed last is the root, and its owner', () => {
  const [own] = judged({ objects: [destination('DISABLE'), peers('STRICT')] });
  expect(own).toMatchObject({ owner: 'app', strength: 'direct', root: { kind: 'DestinationRule', name: 'api' } });
  const [platform] = judged({ objects: [destination('DISABLE', 9000), peers('STRICT', 'istio-system', 15)] });
  expect(platform).toMatchObject({ owner: 'platform', root: { kind: 'PeerAuthentication', name: 'default' } });
});

test('mutual TLS toward pods without a sidecar, and a strict server before clients without one', () => {
  const [noSidecar] = judged({ server: false, objects: [destination('ISTIO_MUTUAL')] });
  expect(noSidecar!.cause.en).toContain('have no sidecar');
  const [plain] = judged({
    client: false,
    objects: [peers('STRICT', 'istio-system', 15)],
    line: 'ERROR GET http://api.shop:8080/v1: read tcp: connection reset by peer',
  });
  expect(plain).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(plain!.cause.en).toContain('clients without a sidecar cannot speak it');
});

test('plain TLS toward a sidecar; a server whose Service was not read is known by its workload’s name', () => {
  const [simple] = judged({ objects: [destination('SIMPLE')] });
  expect(simple).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'config' });
  const client = podOf('importer', 'a', { namespace: 'legacy' });
  const server = podOf('api', 'a', { containers: withProxy('api') });
  const [found] = findingsOf(rule, {
    subject: { kind: 'Deployment', name: 'importer', namespace: 'legacy' },
    objects: [
      ...deployment('importer', { namespace: 'legacy' }),
      ...deployment('api'),
      client,
      server,
      peers('STRICT', 'istio-system', 15),
    ],
    logs: [
      logOf(client, 'ERROR GET http://api.shop/v1: read tcp: connection reset by peer'),
      logOf(server, '"- - -" 0 NR filter_chain_not_found - "-" 0 0 0', { container: 'istio-proxy' }),
    ],
  });
  expect(found).toMatchObject({ owner: 'platform', strength: 'direct' });
});

test('stays silent where the objects agree, nothing complains, or the complaint is about another host', () => {
  expect(judged({ objects: [destination('ISTIO_MUTUAL'), peers('STRICT')] })).toEqual([]);
  expect(judged({ objects: [destination('DISABLE'), peers('PERMISSIVE')] })).toEqual([]);
  expect(judged({ objects: [destination('DISABLE'), peers('STRICT')], line: 'GET /v1 200' })).toEqual([]);
  expect(
    judged({ objects: [destination('DISABLE'), peers('STRICT')], line: refused.replaceAll('api.shop', 'auth.shop') }),
  ).toEqual([]);
  const reset = 'ERROR GET http://api.shop:8080/v1: read tcp: connection reset by peer';
  expect(judged({ client: false, objects: [peers('STRICT')], line: reset })).toEqual([]);
  expectSilent(rule, { subject, objects: [destination('DISABLE'), peers('STRICT')] });
});
