import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/gateway-route-refused.ts';
import { condition, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const written = (made: KubeObject, age: number): KubeObject => {
  made.metadata.managedFields = [{ manager: 'kubectl', operation: 'Apply', time: minutesAgo(age) }];
  return made;
};
const route = (conditions: any[], backend = 'web', age = 9000): KubeObject =>
  written(
    object('HTTPRoute', 'web', {
      namespace: 'shop',
      spec: {
        parentRefs: [{ name: 'public', namespace: 'infra' }],
        rules: [
          { backendRefs: [{ name: 'web', port: 80 }, ...(backend === 'web' ? [] : [{ name: backend, port: 80 }])] },
        ],
      },
      status: { parents: [{ parentRef: { name: 'public', namespace: 'infra' }, conditions }] },
    }),
    age,
  );
const gateway = (status: Record<string, any> = {}, age = 9000): KubeObject =>
  written(object('Gateway', 'public', { namespace: 'infra', spec: { listeners: [{ name: 'https' }] }, status }), age);
const judged = (objects: KubeObject[], asked: any = subject) =>
  findingsOf(rule, {
    subject: asked,
    objects: [
      object('Service', 'web', { namespace: 'shop', spec: { selector: { app: 'web' } } }),
      ...deployment('web'),
      podOf('web', 'a'),
      ...objects,
    ],
  });

test('a route that names what is not there, or what it may not, is its owner’s', () => {
  for (const [reason, message] of [
    ['BackendNotFound', 'service shop/webb not found'],
    ['RefNotPermitted', 'backend reference to billing/api not permitted by any ReferenceGrant'],
    ['UnsupportedProtocol', 'appProtocol is not supported'],
  ] as const) {
    const [finding] = judged([route([condition('ResolvedRefs', 'False', reason, message)], 'webb'), gateway()]);
    expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'config' });
    expect(finding!.evidence[0]!.text).toBe(message);
  }
});

test('where route and listener must agree, whoever changed last is at fault', () => {
  const refused = [condition('Accepted', 'False', 'NotAllowedByListeners', 'no listener allows this namespace')];
  expect(judged([route(refused), gateway({}, 12)])[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
    root: { kind: 'Gateway', name: 'public' },
  });
  expect(judged([route(refused, 'web', 12), gateway()])[0]).toMatchObject({
    owner: 'app',
    root: { kind: 'HTTPRoute' },
  });
});

test('a Gateway that does not serve reaches all behind it; its listener says why', () => {
  const status = {
    conditions: [condition('Programmed', 'False', 'Invalid', 'listeners invalid')],
    listeners: [
      {
        name: 'https',
        conditions: [condition('ResolvedRefs', 'False', 'InvalidCertificateRef', 'secret tls not found')],
      },
    ],
  };
  const accepted = route([condition('Accepted', 'True', 'Accepted')]);
  const [finding] = judged([accepted, gateway(status)]);
  expect(finding).toMatchObject({ owner: 'platform', strength: 'direct', root: { kind: 'Gateway' } });
  expect(finding!.cause.en).toContain('InvalidCertificateRef');
});

test('stays silent for accepted routes, a Gateway under way, and routes of others', () => {
  const accepted = route([
    condition('Accepted', 'True', 'Accepted'),
    condition('ResolvedRefs', 'True', 'ResolvedRefs'),
  ]);
  expect(judged([accepted, gateway({ conditions: [condition('Programmed', 'True', 'Programmed')] })])).toEqual([]);
  expect(judged([accepted, gateway({ conditions: [condition('Programmed', 'False', 'Pending')] })])).toEqual([]);
  const refused = route([condition('ResolvedRefs', 'False', 'BackendNotFound')]);
  expect(judged([refused], { kind: 'Service', name: 'other', namespace: 'billing' })).toEqual([]);
});
