import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../src/evidence/kubernetes/api-client.ts';
import { discovery } from '../../../src/evidence/kubernetes/discovery.ts';
import { resources } from '../../../src/triage/resources.ts';

/** An API server whose answers to `/apis` a test decides, one after another; the last one stays. */
const server = (...answers: unknown[]) => {
  const asked: (string | undefined)[] = [];
  const client = {
    async get(path: string, _request: unknown, onRequest: () => void, accept?: string) {
      expect(path).toBe('/apis');
      onRequest();
      asked.push(accept);
      const json = answers.length > 1 ? answers.shift() : answers[0];
      return json ? { ok: true, json, text: '' } : { ok: false, gap: { reason: 'failed', message: '503', fix: '' } };
    },
  } as unknown as ApiClient;
  return { client, asked };
};

const version = (name: string, plurals: string[], freshness = 'Current') => ({
  version: name,
  freshness,
  resources: plurals.map((resource) => ({ resource, responseKind: {}, scope: 'Cluster', verbs: ['list'] })),
});
const aggregated = (...versions: unknown[]) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  items: [{ metadata: { name: 'karpenter.sh' }, versions }],
});
const silent = (): void => {};

describe('what an API server serves', () => {
  it('is asked once, in the aggregated form', async () => {
    const { client, asked } = server(aggregated(version('v1', ['nodepools', 'nodeclaims'])));
    const served = discovery(client);
    const both = await Promise.all([
      served.versionOf(resources.nodepools, silent),
      served.versionOf(resources.scaledobjects, silent),
    ]);
    expect(both).toEqual(['v1', '']);
    expect(await served.versionOf(resources.nodeclaims, silent)).toBe('v1');
    expect(asked).toEqual([
      expect.stringMatching(/^application\/json;g=apidiscovery\.k8s\.io;v=v2;as=.*,application\/json$/),
    ]);
  });

  it('may be another version than the catalogue’s, the preferred one first', async () => {
    const { client } = server(
      aggregated(version('v1beta1', ['nodepools']), version('v1alpha5', ['nodepools', 'machines'])),
    );
    expect(await discovery(client).versionOf(resources.nodepools, silent)).toBe('v1beta1');
    const both = server(aggregated(version('v1beta1', ['nodepools']), version('v1', ['nodepools'])));
    expect(await discovery(both.client).versionOf(resources.nodepools, silent)).toBe('v1');
  });

  it('is told by groups alone where the server is older', async () => {
    const groups = [
      {
        name: 'karpenter.sh',
        versions: [{ version: 'v1beta1' }, { version: 'v1' }],
        preferredVersion: { version: 'v1' },
      },
    ];
    const { client } = server({ kind: 'APIGroupList', groups });
    expect(await discovery(client).versionOf(resources.nodepools, silent)).toBe('v1');
    expect(await discovery(client).versionOf(resources.certificates, silent)).toBe('');
  });

  it('is unknown of a group whose own server is away', async () => {
    const { client } = server(aggregated(version('v1', [], 'Stale')));
    expect(await discovery(client).versionOf(resources.nodepools, silent)).toBe('v1');
  });

  it('is asked again after a failure, and kept for minutes after an answer', async () => {
    let nowMs = 0;
    const { client, asked } = server(undefined, aggregated(version('v1', ['nodepools'])), aggregated());
    const served = discovery(client, () => nowMs);
    expect(await served.versionOf(resources.nodepools, silent)).toBeUndefined();
    expect(await served.versionOf(resources.nodepools, silent)).toBe('v1');
    nowMs = 6 * 60_000;
    // The former answer is used while a newer one is fetched: nobody waits for it.
    expect(await served.versionOf(resources.nodepools, silent)).toBe('v1');
    expect(await served.versionOf(resources.nodepools, silent)).toBe('');
    expect(asked).toHaveLength(3);
  });
});
