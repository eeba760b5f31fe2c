import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/domain/kubernetes.ts';
import type { KubernetesReader, Read, Resource } from '../../../src/triage/ports.ts';
import { resources } from '../../../src/triage/resources.ts';
import { type CaseOptions, caseFiles, withFolder } from './fixture.ts';

/** Opens a reader of the incident folder and hands it to `use`. */
export type WithReader = (
  dir: string,
  callTimeoutMs: number,
  use: (reader: KubernetesReader) => Promise<void>,
) => Promise<void>;

const answerOf = <T>(read: Read<T>): T => {
  if (!read.ok) throw new Error(`a gap instead of an answer: ${read.gap.message}`);
  return read.value;
};
const gapOf = <T>(read: Read<T>) => {
  if (read.ok) throw new Error('an answer instead of a gap');
  return read.gap;
};
const keysOf = (objects: KubeObject[]): string[] =>
  objects.map(({ metadata }) => (metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name));

/** What every KubernetesReader does, whatever it reads from. */
export function conformance(name: string, withReader: WithReader): void {
  const reading = (use: (reader: KubernetesReader) => Promise<void>, options: CaseOptions = {}, timeoutMs = 5000) =>
    withFolder(caseFiles(options), (dir) => withReader(dir, timeoutMs, use));
  const all = { limit: 100 };

  describe(`${name}: objects`, () => {
    it('gets one object with its kind and apiVersion', () =>
      reading(async (reader) => {
        const web = answerOf(await reader.get(resources.deployments, 'web', 'shop'));
        expect(web).toMatchObject({ kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 3 } });
        expect(answerOf(await reader.get(resources.nodes, 'node-b')).metadata.uid).toBe('uid-node-b');
      }));

    it.each([
      ['no such pod', resources.pods, 'web-9', 'shop'],
      ['a pod of another namespace', resources.pods, 'worker-0', 'billing'],
      ['a name that would leave its path', resources.pods, '..', 'shop'],
      ['a name with a slash', resources.pods, 'web-0/exec', 'shop'],
    ])('answers not-found for %s', (_, resource: Resource, podName, namespace) =>
      reading(async (reader) => {
        expect(gapOf(await reader.get(resource, podName, namespace)).reason).toBe('not-found');
      }),
    );

    it('lists by namespace and name, each item with its kind', () =>
      reading(async (reader) => {
        const read = await reader.list(resources.pods, all);
        expect(keysOf(answerOf(read))).toEqual([
          'billing/web-0',
          'shop/web-0',
          'shop/web-1',
          'shop/web-2',
          'shop/worker-0',
        ]);
        expect(read).toMatchObject({ complete: true });
        expect(new Set(answerOf(read).map(({ kind, apiVersion }) => `${apiVersion} ${kind}`))).toEqual(
          new Set(['v1 Pod']),
        );
      }));

    it('lists nothing of a kind that has no objects', () =>
      reading(async (reader) => {
        const read = await reader.list(resources.poddisruptionbudgets, all);
        expect(read).toEqual({ ok: true, value: [], complete: true });
      }));

    it('keeps the last writers and drops what is bulk', () =>
      reading(async (reader) => {
        const { metadata } = answerOf(await reader.list(resources.deployments, all))[0]!;
        expect(metadata.annotations).toEqual({ team: 'storefront' });
        expect(metadata.managedFields).toMatchObject([
          { manager: 'argocd', fieldsV1: { 'f:spec': {} } },
          { manager: 'bulk' },
        ]);
        expect(metadata.managedFields?.[1]).not.toHaveProperty('fieldsV1');
      }));

    it('reads a custom resource of another version than the catalogue names', () =>
      reading(async (reader) => {
        expect(keysOf(answerOf(await reader.list(resources.aksnodeclasses, all)))).toEqual(['default']);
        expect(answerOf(await reader.get(resources.aksnodeclasses, 'default')).spec.imageFamily).toBe('Ubuntu2204');
      }));

    it('refuses to ask for Secrets', () =>
      reading(async (reader) => {
        const secrets = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
        await expect(reader.list(secrets, all)).rejects.toThrow('Secrets are never read');
        await expect(reader.get(secrets, 'db', 'shop')).rejects.toThrow('Secrets are never read');
      }));

    it('counts its requests', () =>
      reading(async (reader) => {
        expect(reader.calls).toBe(0);
        await reader.list(resources.statefulsets, all);
        await reader.get(resources.nodes, 'node-a');
        await reader.probe('readyz');
        expect(reader.calls).toBe(3);
      }));
  });

  describe(`${name}: selectors`, () => {
    it.each([
      ['app=web', 4],
      ['app==web,track=stable', 2],
      ['app=web,track!=stable', 2],
      ['track!=stable', 3],
      ['track in (stable, canary)', 3],
      ['app=web,track notin (stable,beta)', 1],
      ['track', 4],
      ['!track', 1],
      ['app in (web),track', 4],
      ['app=nothing', 0],
    ])('labels: %s', (labelSelector, count) =>
      reading(async (reader) => {
        expect(answerOf(await reader.list(resources.pods, { ...all, labelSelector }))).toHaveLength(count);
      }),
    );

    it.each([
      [resources.pods, 'spec.nodeName=node-a', ['billing/web-0', 'shop/web-0', 'shop/worker-0']],
      [resources.pods, 'status.phase!=Running', ['shop/web-2', 'shop/worker-0']],
      [resources.pods, 'metadata.namespace=billing', ['billing/web-0']],
      [resources.pods, 'metadata.name=web-0,spec.nodeName=node-a', ['billing/web-0', 'shop/web-0']],
      [resources.nodes, 'spec.unschedulable=true', ['node-a']],
      [resources.nodes, 'spec.unschedulable=false', ['node-b']],
      [resources.events, 'involvedObject.uid=uid-shop-web-2', ['shop/web-2.1', 'shop/web-2.2']],
      [resources.events, 'involvedObject.kind=Node,involvedObject.name=node-a', ['default/node-a.1']],
      [resources.events, 'type=Warning', ['shop/web-2.1']],
      [resources.events, 'reason=Nominated,source=karpenter', ['shop/web-2.2']],
    ])('fields of %o: %s', (resource: Resource, fieldSelector: string, keys: string[]) =>
      reading(async (reader) => {
        expect(keysOf(answerOf(await reader.list(resource, { ...all, fieldSelector })))).toEqual(keys);
      }),
    );

    it('combines a namespace with both selectors', () =>
      reading(async (reader) => {
        const selectors = { namespace: 'shop', labelSelector: 'app=web', fieldSelector: 'spec.nodeName=node-b' };
        const found = answerOf(await reader.list(resources.pods, { ...all, ...selectors }));
        expect(keysOf(found)).toEqual(['shop/web-1', 'shop/web-2']);
      }));

    it.each([
      [resources.pods, { fieldSelector: 'spec.containers=app' }, 'field label not supported'],
      [resources.deployments, { fieldSelector: 'status.phase=Running' }, 'field label not supported'],
      [resources.pods, { labelSelector: 'app=(web' }, ''],
      [resources.pods, { labelSelector: '=web' }, ''],
    ])('a selector the API does not support is a gap: %#', (resource: Resource, selector: object, text: string) =>
      reading(async (reader) => {
        const gap = gapOf(await reader.list(resource, { ...all, ...selector }));
        expect(gap).toMatchObject({ reason: 'failed', message: expect.stringContaining(text) });
      }),
    );

    it('brings both event APIs to one shape', () =>
      reading(async (reader) => {
        const event = answerOf(await reader.get(resources.events, 'web-2.2', 'shop'));
        expect(event).toMatchObject({ apiVersion: 'v1', message: 'Pod should schedule on: nodeclaim/default-x' });
        expect(event.involvedObject).toMatchObject({ kind: 'Pod', uid: 'uid-shop-web-2' });
      }));
  });

  describe(`${name}: bounds and gaps`, () => {
    it.each([
      [4, 4, false],
      [5, 5, true],
      [6, 5, true],
      [1, 1, false],
    ])('a limit of %i gives %i of five, complete: %s', (limit, count, complete) =>
      reading(async (reader) => {
        const read = await reader.list(resources.pods, { limit });
        expect(answerOf(read)).toHaveLength(count);
        expect(read).toMatchObject({ complete });
      }),
    );

    it('a denied resource is a gap that names the grant', () =>
      reading(
        async (reader) => {
          const gap = gapOf(await reader.list(resources.events, { ...all, namespace: 'shop' }));
          expect(gap.reason).toBe('forbidden');
          expect(gap.message).toContain('cannot list events in shop');
          expect(gap.fix).toBe('grant `list events` in shop (deploy/clusterrole.yaml)');
          expect(gapOf(await reader.list(resources.ec2nodeclasses, all)).reason).toBe('forbidden');
          expect(gapOf(await reader.get(resources.ec2nodeclasses, 'default')).fix).toContain(
            '`get ec2nodeclasses.karpenter.k8s.aws`',
          );
        },
        { deny: ['events', 'ec2nodeclasses.karpenter.k8s.aws'] },
      ));

    it('denied logs leave pods readable, and the other way round', () =>
      reading(
        async (reader) => {
          const log = await reader.log('shop', 'web-0', 'app', { previous: false, tailLines: 10 });
          expect(gapOf(log)).toMatchObject({
            reason: 'forbidden',
            fix: expect.stringContaining('`get pods/log` in shop'),
          });
          expect((await reader.get(resources.pods, 'web-0', 'shop')).ok).toBe(true);
        },
        { deny: ['pods/log'] },
      ));

    it('a failing resource is a gap with the machine’s own words', () =>
      reading(
        async (reader) => {
          const events = gapOf(await reader.list(resources.events, all));
          expect(events).toMatchObject({
            reason: 'failed',
            message: expect.stringContaining('500 etcdserver: request timed out'),
          });
          expect(gapOf(await reader.list(resources.leases, all))).toMatchObject({ reason: 'timeout' });
          expect((await reader.list(resources.pods, all)).ok).toBe(true);
        },
        {
          fail: [
            { resource: 'events', status: 500, message: 'etcdserver: request timed out' },
            { resource: 'leases', status: 504, message: 'Timeout: request did not complete' },
          ],
        },
      ));

    it('every resource fails where the folder says so', () =>
      reading(
        async (reader) => {
          expect(gapOf(await reader.list(resources.pods, all)).reason).toBe('failed');
          expect(gapOf(await reader.get(resources.nodes, 'node-a')).reason).toBe('failed');
        },
        { fail: [{ resource: '*', status: 503, message: 'apiserver is shutting down' }] },
      ));

    it('an answer later than the timeout is none', () =>
      reading(
        async (reader) => {
          const gap = gapOf(await reader.list(resources.leases, all));
          expect(gap).toMatchObject({ reason: 'timeout', message: expect.stringContaining('no answer within 250 ms') });
        },
        { fail: [{ resource: 'leases', status: 504, message: '', latency_ms: 3000 }] },
        250,
      ));
  });

  describe(`${name}: logs and health`, () => {
    it.each([
      [10, 'one\ntwo\nthree\nfour\n', true],
      [2, 'three\nfour\n', false],
      [4, 'one\ntwo\nthree\nfour\n', false],
    ])('the last %i lines of a log', (tailLines, value, complete) =>
      reading(async (reader) => {
        expect(await reader.log('shop', 'web-0', 'app', { previous: false, tailLines })).toEqual({
          ok: true,
          value,
          complete,
        });
      }),
    );

    it('reads the previous container’s log', () =>
      reading(async (reader) => {
        const read = await reader.log('shop', 'web-0', 'app', { previous: true, tailLines: 5 });
        expect(answerOf(read)).toBe('panic: boom\n');
      }));

    it.each([
      ['shop', 'web-1', 'app'],
      ['shop', '..', 'app'],
      ['../shop', 'web-0', 'app'],
    ])('a log that is not there is a gap, not an empty text: %s/%s', (namespace, podName, container) =>
      reading(async (reader) => {
        const gap = gapOf(await reader.log(namespace, podName, container, { previous: false, tailLines: 5 }));
        expect(['not-collected', 'not-found']).toContain(gap.reason);
      }),
    );

    it('a failing readyz is an answer, with its body', () =>
      reading(async (reader) => {
        const readyz = answerOf(await reader.probe('readyz'));
        expect(readyz).toMatchObject({ path: 'readyz', status: 500, body: expect.stringContaining('[-]etcd failed') });
        expect(readyz.latencyMs).toBeGreaterThanOrEqual(0);
        expect(answerOf(await reader.probe('livez'))).toMatchObject({ status: 200, body: 'ok' });
      }));
  });
}
