import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/ingress-host-claimed-twice.ts';
import { findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

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
