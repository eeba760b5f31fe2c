import { expect, test } from 'vitest';
import rule from '../../src/rules/app/request-too-large.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Ingress', name: 'web', namespace: 'shop' };
const ingress = (annotations: Record<string, string> = {}) =>
  object('Ingress', 'web', {
    namespace: 'shop',
    annotations,
    spec: {
      rules: [{ host: 'shop.example.com', http: { paths: [{ path: '/', backend: { service: { name: 'web' } } }] } }],
    },
  });
const service = object('Service', 'web', { namespace: 'shop', spec: { selector: { app: 'web' } } });
const controller = podOf('ingress-nginx-controller', 'a', { namespace: 'ingress-nginx' });
const entry = (age: number) =>
  deployment('ingress-nginx-controller', {
    namespace: 'ingress-nginx',
    age,
    before: { image: 'registry.example/ingress-nginx-controller:1' },
  });
const said = (host: string, words = 'client intended to send too large body: 19941234 bytes') =>
  logOf(
    controller,
    `[error] 71#71: *9 ${words}, client: 93.184.60.14, server: ${host}, request: "POST /v3", host: "${host}"`,
  );
const situation = (annotations: Record<string, string>, log = said('shop.example.com'), age = 9000) => ({
  subject,
  objects: [ingress(annotations), service, podOf('web', 'a'), ...deployment('web'), controller, ...entry(age)],
  logs: [log],
});
const allows8m = { 'nginx.ingress.kubernetes.io/proxy-body-size': '8m' };

test('what the Ingress itself allows is its owner’s, with the size that was sent', () => {
  const [finding] = findingsOf(rule, situation(allows8m));
  expect(finding).toMatchObject({ owner: 'app', boundary: 'traffic', strength: 'direct' });
  expect(finding?.cause.en).toContain('8m');
  expect(finding?.cause.en).toContain('20 MB');
});

test('without a limit of its own: the default, or whoever changed the controller lately', () => {
  expect(findingsOf(rule, situation({}))[0]).toMatchObject({ owner: 'app', strength: 'derived' });
  expect(findingsOf(rule, situation({}, said('shop.example.com'), 60))[0]).toMatchObject({ owner: 'platform' });
  const map = object('ConfigMap', 'ingress-nginx-controller', {
    namespace: 'ingress-nginx',
    data: { 'proxy-body-size': '1m' },
  });
  map.metadata.managedFields = [{ manager: 'argocd-controller', operation: 'Update', time: minutesAgo(50) }];
  const base = situation({});
  expect(findingsOf(rule, { ...base, objects: [...base.objects, map] })[0]).toMatchObject({ owner: 'platform' });
});

test('silent for other hosts and for what the application answers itself', () => {
  expectSilent(rule, situation(allows8m, said('other.example.com')));
  expectSilent(rule, situation(allows8m, logOf(podOf('web', 'a'), 'POST /v3 413 payload too large')));
});
