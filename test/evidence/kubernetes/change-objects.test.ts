import { expect, test } from 'vitest';
import { readableObject } from '../../../src/evidence/kubernetes/bounded.ts';

const read = (kind: string, rest: object) =>
  readableObject({ apiVersion: 'v1', kind, metadata: { name: 'web', namespace: 'shop' }, ...rest });

test('a ControllerRevision is read as the template it stands for', () => {
  const template = { spec: { containers: [{ name: 'db', image: 'db:2', resources: { limits: { memory: '1Gi' } } }] } };
  const revision = read('ControllerRevision', {
    revision: 4,
    data: { spec: { template: { $patch: 'replace', ...template } } },
  });
  expect(revision).toMatchObject({ revision: 4, spec: { template } });
  expect(revision).not.toHaveProperty('data');
});

test('what tells of deliveries and routes keeps its shape', () => {
  const whole: [string, object][] = [
    [
      'VirtualService',
      {
        spec: { http: [{ route: [{ destination: { host: 'api', subset: 'v2', port: { number: 80 } }, weight: 90 }] }] },
      },
    ],
    [
      'DestinationRule',
      {
        spec: {
          host: 'api',
          trafficPolicy: { tls: { mode: 'DISABLE' } },
          subsets: [{ name: 'v1', labels: { version: 'v1' } }],
        },
      },
    ],
    ['PeerAuthentication', { spec: { selector: { matchLabels: { app: 'api' } }, mtls: { mode: 'STRICT' } } }],
    [
      'HTTPRoute',
      {
        spec: {
          parentRefs: [{ name: 'public', namespace: 'infra' }],
          rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
        },
        status: {
          parents: [
            {
              parentRef: { name: 'public' },
              conditions: [{ type: 'Accepted', status: 'False', reason: 'NoMatchingParent' }],
            },
          ],
        },
      },
    ],
    [
      'Gateway',
      {
        status: {
          conditions: [{ type: 'Programmed', status: 'False' }],
          listeners: [{ name: 'https', conditions: [{ type: 'ResolvedRefs', status: 'False' }] }],
        },
      },
    ],
    [
      'Application',
      {
        spec: {
          destination: { namespace: 'shop' },
          syncPolicy: { automated: {} },
          source: { repoURL: 'https://git.example/shop' },
        },
        status: {
          resources: [{ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }],
          history: [{ id: '3', revision: '4f2c1d9', deployedAt: '2026-11-20T08:00:00Z' }],
          operationState: {
            phase: 'Failed',
            message: 'one or more objects failed to apply',
            finishedAt: '2026-11-20T08:00:00Z',
            operation: { initiatedBy: { username: 'dana' } },
            syncResult: {
              revision: '4f2c1d9',
              resources: [{ kind: 'ConfigMap', name: 'settings', status: 'SyncFailed', message: 'invalid' }],
            },
          },
        },
      },
    ],
    [
      'HelmRelease',
      {
        status: {
          history: [
            {
              name: 'web',
              version: '7',
              chartName: 'web',
              chartVersion: '1.4.0',
              lastDeployed: '2026-11-20T08:00:00Z',
            },
          ],
        },
      },
    ],
    ['Kustomization', { spec: { suspend: true }, status: { lastAppliedRevision: 'main@sha1:4f2c1d9' } }],
    [
      'Ingress',
      {
        spec: {
          rules: [
            {
              host: 'shop.example',
              http: {
                paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
              },
            },
          ],
        },
      },
    ],
  ];
  for (const [kind, fields] of whole) expect(read(kind, fields), kind).toMatchObject(fields);
});
