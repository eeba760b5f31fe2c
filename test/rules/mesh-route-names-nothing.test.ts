import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/mesh-route-names-nothing.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'api', namespace: 'shop' };
const read = ['services', 'destinationrules'];
const route = (destination: Record<string, any>, weight?: number): KubeObject =>
  object('VirtualService', 'api', {
    namespace: 'shop',
    spec: { hosts: ['api'], http: [{ route: [{ destination, ...(weight === undefined ? {} : { weight }) }] }] },
  });
const subsets = (...list: [string, Record<string, string>][]): KubeObject =>
  object('DestinationRule', 'api', {
    namespace: 'shop',
    spec: { host: 'api.shop.svc.cluster.local', subsets: list.map(([name, labels]) => ({ name, labels })) },
  });
const base = (): KubeObject[] => [
  object('Namespace', 'shop'),
  object('Service', 'api', { namespace: 'shop', spec: { selector: { app: 'api' }, ports: [{ port: 8080 }] } }),
  ...deployment('api'),
  podOf('api', 'a', { labels: { version: 'v1' } }),
];
const judged = (objects: KubeObject[], logs = [] as any[]) =>
  findingsOf(rule, { subject, read, objects: [...base(), ...objects], logs });

test('a subset that nobody defines, or whose labels no pod bears, holds nothing: the owner of the rule', () => {
  const undefinedSubset = judged([route({ host: 'api', subset: 'v2' }), subsets(['v1', { version: 'v1' }])]);
  expect(undefinedSubset[0]).toMatchObject({ owner: 'app', boundary: 'config', strength: 'derived' });
  expect(undefinedSubset[0]!.cause.en).toContain('subset v2 of Service shop/api, which no DestinationRule defines');
  const empty = judged([route({ host: 'api', subset: 'v2' }), subsets(['v2', { version: 'v2' }])]);
  expect(empty[0]!.root).toMatchObject({ kind: 'DestinationRule', name: 'api' });
});

test('a wrong port and a host without Service count as well; whoever complains makes it sure', () => {
  expect(judged([route({ host: 'api', port: { number: 80 } })])[0]!.cause.en).toContain('which offers 8080');
  const client = podOf('web', 'a');
  const said = findingsOf(rule, {
    subject: { ...subject, name: 'web' },
    read,
    objects: [...base(), ...deployment('web'), client, route({ host: 'apis.shop.svc.cluster.local' })],
    logs: [logOf(client, '"GET /v1 HTTP/1.1" 503 NC cluster_not_found outbound|8080||apis.shop.svc.cluster.local')],
  });
  expect(said[0]).toMatchObject({ owner: 'app', strength: 'direct' });
});

test('stays silent for routes that lead somewhere, get no requests, leave the cluster, or serve others', () => {
  const silent = (objects: KubeObject[], name = 'api') =>
    expectSilent(rule, { subject: { ...subject, name }, read, objects: [...base(), ...objects] });
  silent([route({ host: 'api', subset: 'v1', port: { number: 8080 } }), subsets(['v1', { version: 'v1' }])]);
  silent([route({ host: 'api', subset: 'v2' }, 0), subsets(['v1', { version: 'v1' }])]);
  silent([route({ host: 'payments.example.com' })]);
  silent([...deployment('web'), podOf('web', 'a'), route({ host: 'api', subset: 'v2' })], 'web');
  expectSilent(rule, { subject, objects: [...base(), route({ host: 'api', subset: 'v2' })] });
});
