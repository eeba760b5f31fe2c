import { describe, expect, test } from 'vitest';
import { type Layer, layers, type Provider } from '../../src/domain/layer.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import type { CollectionTarget } from '../../src/triage/collect/collection.ts';
import { unite } from '../../src/triage/collect/collection.ts';
import { gapsOf, skippedOf } from '../../src/triage/collect/gaps.ts';
import { collectLayer } from '../../src/triage/collect/layer.ts';
import type { ClusterReaders, KubernetesReader, ListOptions, Read, Resource } from '../../src/triage/ports.ts';
import { object } from '../rules/harness.ts';

const target: CollectionTarget = {
  cluster: { name: 'test', provider: 'eks' },
  subjects: [{ cluster: 'test', kind: 'Deployment', name: 'web', namespace: 'shop' }],
  alerts: [],
};

const denied = { reason: 'forbidden' as const, message: 'cannot list', fix: 'grant list' };

/** A cluster whose answers a test decides; every list is remembered. */
const cluster = (list: (resource: Resource, options: ListOptions) => Promise<Read<any>>) => {
  const asked: string[] = [];
  const kubernetes: KubernetesReader = {
    calls: 0,
    list(resource, options) {
      asked.push(`${resource.plural}${options.namespace ? ` in ${options.namespace}` : ''}`);
      return list(resource, options);
    },
    get: async () => ({ ok: false, gap: { ...denied, reason: 'not-found' } }),
    log: async () => ({ ok: false, gap: denied }),
    probe: async (path) => ({ ok: true, complete: true, value: { path, status: 200, body: 'ok', latencyMs: 5 } }),
  };
  const readers: ClusterReaders = {
    kubernetes,
    metrics: null,
    cloud: null,
    maxApiCalls: 30,
    now: () => '2026-11-20T08:30:00Z',
  };
  return { readers, asked };
};
const empty = async (): Promise<Read<any>> => ({ ok: true, value: [], complete: true });

describe('a layer', () => {
  test('reads its own sources and bounds every list', async () => {
    const limits: number[] = [];
    const { readers, asked } = cluster(async (_, options) => {
      limits.push(options.limit);
      return empty();
    });
    const facts = await collectLayer('cloud', target, readers);
    expect(asked).toContain('leases in kube-system');
    expect(asked.filter((what) => /^(pods|deployments)/.test(what))).toEqual([]);
    expect(facts.probes.map(({ path }) => path)).toEqual(['readyz']);
    await collectLayer('app', target, readers);
    expect(asked).toContain('pods in shop');
    await collectLayer('platform', target, readers);
    expect(Math.max(...limits)).toBeLessThanOrEqual(1000);
  });

  test('costs no more calls in a large cluster than the layers have', async () => {
    const countOf = async (layer: Layer, pods: number): Promise<number> => {
      const many = Array.from({ length: pods }, (_, i) =>
        object('Pod', `web-${i}`, { namespace: 'shop', spec: { nodeName: `n${i}` } }),
      );
      const { readers, asked } = cluster(async (resource, { limit }) =>
        resource.plural === 'pods' ? { ok: true, value: many.slice(0, limit), complete: pods <= limit } : empty(),
      );
      const facts = await collectLayer(layer, target, readers);
      expect(facts.apiCalls).toBeGreaterThanOrEqual(asked.length);
      return facts.apiCalls;
    };
    for (const pods of [30, 3000]) {
      const counts = await Promise.all(layers.map((layer) => countOf(layer, pods)));
      expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(28);
    }
  });

  test('keeps what answered when something fails, and names the gap', async () => {
    const { readers } = cluster(async (resource) =>
      resource.plural === 'events' ? { ok: false, gap: denied } : empty(),
    );
    const facts = await collectLayer('app', target, readers);
    expect(facts.reads.find((read) => read.what === 'events')?.gap).toEqual(denied);
    expect(facts.reads.find((read) => read.what === 'pods')).toMatchObject({ complete: true, count: 0 });
    expect(facts.reads.find((read) => read.what === 'pods')).not.toHaveProperty('gap');
  });

  test('ends when its time is up, and says what it had to leave out', async () => {
    const { readers } = cluster((resource) => (resource.plural === 'nodes' ? new Promise(() => {}) : empty()));
    const facts = await collectLayer('platform', target, readers, 50);
    expect(facts.reads.find((read) => read.what === 'nodes')?.gap).toMatchObject({
      reason: 'timeout',
      fix: expect.stringContaining('layerTimeoutMs'),
    });
    expect(facts.reads.find((read) => read.what === 'nodepools')).toBeDefined();
  });
});

test('gaps are told once, and cloud calls of one reason in one line', async () => {
  const { readers } = cluster(empty);
  const gaps = gapsOf(await collectLayer('cloud', target, readers));
  const calls = gaps.filter(({ missing }) => missing.startsWith('cloud calls'));
  expect(calls).toHaveLength(1);
  expect(calls[0]?.missing).toMatch(/^cloud calls \S+, \S+, \S+, \S+ and \d+ more: /);
  expect(new Set(gaps.map(({ missing }) => missing)).size).toBe(gaps.length);
});

test('a later run adds to what former runs read, and replaces only what it read again', async () => {
  const { readers } = cluster(empty);
  const batch = await collectLayer('app', target, readers);
  const event = object('Event', 'expired', { namespace: 'shop' });
  const before = {
    ...batch,
    objects: [event, object('Pod', 'web-1', { namespace: 'shop', status: { phase: 'Pending' } })],
  };
  const after = { ...batch, objects: [object('Pod', 'web-1', { namespace: 'shop', status: { phase: 'Running' } })] };
  const facts = unite([before, after], target, '2026-11-20T08:40:00Z');
  expect(facts.objects).toContainEqual(event);
  expect(facts.objects.filter((one) => one.kind === 'Pod').map((pod) => pod.status.phase)).toEqual(['Running']);
});

test('a snapshot is read through the same ports', async () => {
  const snapshot = await openSnapshot(new URL('../cases/crashloop-report-worker', import.meta.url).pathname);
  const facts = await collectLayer(
    'app',
    { ...target, subjects: [{ cluster: 'test', kind: 'Namespace', name: 'reports', namespace: 'reports' }] },
    snapshot,
  );
  expect(facts.logs.some((log) => log.previous && log.text.includes('rendering'))).toBe(true);
  expect(facts.series.map((series) => series.name)).toContain('container_memory_working_set_bytes');
});

test('a layer whose reading breaks off keeps what was read, and its sources are gaps', async () => {
  const { readers } = cluster(async ({ plural }) => {
    if (plural === 'nodepools') throw new TypeError('pools of no shape');
    return empty();
  });
  const facts = await collectLayer('platform', target, readers);
  expect(facts.reads.find(({ what }) => what === 'nodepools')?.gap).toMatchObject({
    reason: 'failed',
    message: expect.stringContaining('pools of no shape'),
  });
});

test('what only other vendors’ clusters serve is neither asked for nor missed', async () => {
  const asked = async (provider: Provider): Promise<string[]> => {
    const { readers, asked: calls } = cluster(empty);
    // A recorded cluster is read as a whole.
    delete readers.maxApiCalls;
    await collectLayer('platform', { ...target, cluster: { ...target.cluster, provider } }, readers);
    return calls;
  };
  const eks = await asked('eks');
  expect(eks.some((call) => call.includes('ec2nodeclasses'))).toBe(true);
  expect(eks.some((call) => call.includes('aksnodeclasses'))).toBe(false);
  const aks = await asked('aks');
  expect(aks.some((call) => call.includes('aksnodeclasses'))).toBe(true);
  expect(aks.some((call) => /ec2nodeclasses|securitygrouppolicies/.test(call))).toBe(false);
});

test('kinds that a snapshot lacks are told in one line, add-ons not at all', async () => {
  const lacking = (): Promise<Read<never>> =>
    Promise.resolve({ ok: false, gap: { reason: 'not-collected', message: 'not there', fix: 'collect it' } });
  const { readers } = cluster(lacking);
  delete readers.maxApiCalls;
  const told = gapsOf(await collectLayer('platform', target, readers)).filter(({ missing }) =>
    /snapshot/.test(missing),
  );
  expect(told).toHaveLength(1);
  expect(told[0]?.missing).toMatch(/^the snapshot lacks nodes, pods, /);
  expect(told[0]?.missing).not.toMatch(/clusterqueues|nodepools/);
  expect(told[0]?.fix).toMatch(/^kubectl get nodes,pods,\S+ -A -o json > cluster\/more\.json$/);
});

test('what the calls did not suffice for is one line; what nothing spoke for is no gap, and told where the reasoning is', async () => {
  const { readers } = cluster(empty);
  const facts = await collectLayer('app', target, { ...readers, maxApiCalls: 14 });
  const told = gapsOf(facts).filter(({ missing }) => missing.startsWith('not read: '));
  expect(told).toEqual([
    {
      missing: expect.stringMatching(
        /^not read: .*statefulsets in shop.*; the triage's 14 API calls were spent on what tells more$/,
      ),
      fix: 'raise triage.maxApiCalls above 14',
    },
  ]);
  const [skipped] = skippedOf([facts]);
  expect(skipped?.missing).toMatch(/^not asked for, since nothing in the incident speaks of them: .*networkpolicies/);
  expect(gapsOf(facts).some(({ missing }) => missing.includes('networkpolicies'))).toBe(false);
});
