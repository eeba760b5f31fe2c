import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/ingress-host-claimed-twice.ts';
import { findingsOf, object } from './harness.ts';
import { logOf, minutesAgo, podOf } from './workloads.ts';

const ingress = (
  namespace: string,
  age: number,
  rest: { path?: string; host?: string; annotations?: any; klass?: string } = {},
): KubeObject =>
  object('Ingress', 'web', {
    uid: `uid-Ingress-${namespace}`,
    namespace,
    creationTimestamp: minutesAgo(age),
    annotations: rest.annotations,
    spec: {
      ingressClassName: rest.klass ?? 'nginx',
      rules: [
        {
          host: rest.host ?? 'shop.example.com',
          http: { paths: [{ path: rest.path ?? '/', pathType: 'Prefix', backend: { service: { name: 'web' } } }] },
        },
      ],
    },
  });
const judged = (objects: KubeObject[]) =>
  findingsOf(rule, { subject: { kind: 'Ingress', name: 'web', namespace: 'shop' }, objects });

test('whoever claims a host and path later takes requests from who served them', () => {
  const [finding] = judged([ingress('shop', 9000), ingress('preview', 30)]);
  expect(finding).toMatchObject({ owner: 'app', strength: 'derived', root: { kind: 'Ingress', namespace: 'preview' } });
  expect(finding!.cause.en).toContain('Ingress preview/web has claimed shop.example.com/ (Prefix)');
  expect(judged([ingress('shop', 9000), ingress('monitoring', 30)])[0]?.owner).toBe('platform');
});

test('the incident’s own Ingress may be the late one', () => {
  expect(judged([ingress('shop', 30), ingress('preview', 9000)])[0]?.root).toMatchObject({ namespace: 'shop' });
});

test('stays silent for split paths, other hosts and classes, canaries, and claims of long ago', () => {
  const silent = (other: KubeObject) => expect(judged([ingress('shop', 9000), other])).toEqual([]);
  silent(ingress('preview', 30, { path: '/preview' }));
  silent(ingress('preview', 30, { host: 'preview.example.com' }));
  silent(ingress('preview', 30, { klass: 'internal' }));
  silent(ingress('preview', 30, { annotations: { 'nginx.ingress.kubernetes.io/canary': 'true' } }));
  silent(ingress('preview', 8000));
});

test('a longer path that another namespace took counts where the controller shows requests refused there', () => {
  const controller = podOf('controller', 'a', { namespace: 'ingress-nginx' });
  const access = (path: string, status: number, upstream = 'preview-web-80') =>
    logOf(
      controller,
      `198.51.100.2 - - [20/Nov/2026:08:02:14 +0000] "GET ${path} HTTP/2.0" ${status} 162 "-" "Mozilla/5.0" 412 0.004 [${upstream}] [] 10.4.2.19:8080 162 0.004 ${status}`,
    );
  const own = ingress('shop', 9000, { path: '/help' });
  const taken = ingress('preview', 50, { path: '/help/articles' });
  const nested = (other: KubeObject, log: ReturnType<typeof access>) =>
    findingsOf(rule, {
      subject: { kind: 'Ingress', name: 'web', namespace: 'shop' },
      objects: [own, other, controller],
      logs: [log],
    });
  const [finding] = nested(taken, access('/help/articles/4002', 404));
  expect(finding).toMatchObject({ owner: 'app', boundary: 'traffic', root: { namespace: 'preview' } });
  expect(finding?.cause.en).toContain('shop.example.com/help/articles');
  expect(nested(taken, access('/help/articles/4002', 200))).toEqual([]);
  expect(nested(taken, access('/help/articles/4002', 404, 'shop-web-80'))).toEqual([]);
  expect(nested(ingress('preview', 50, { path: '/helpers' }), access('/helpers/1', 404))).toEqual([]);
  expect(nested(ingress('preview', 9000, { path: '/help/articles' }), access('/help/articles/1', 404))).toEqual([]);
});
