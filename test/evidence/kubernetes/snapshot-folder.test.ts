import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { SnapshotError } from '../../../src/evidence/kubernetes/snapshot-error.ts';
import type { CloudQuestion } from '../../../src/triage/ports.ts';
import { resources } from '../../../src/triage/resources.ts';
import { caseFiles, withFolder } from './fixture.ts';

const all = { limit: 100 };
const node = (labels: Record<string, string>, kubeletVersion: string, providerID: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { providerID },
  status: {
    nodeInfo: { kubeletVersion },
    conditions: [{ type: 'Ready', lastHeartbeatTime: '2026-01-02T00:00:00Z', notAfter: '2036-01-01T00:00:00Z' }],
  },
});

/** `c: &c [*b, *b, …]`: each line nine times the one before. */
const unfolding = (name: string): string => {
  const before = String.fromCharCode(name.charCodeAt(0) - 1);
  return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
};

/** A snapshot has its answers already: looking at what the incident touches would be a bug. */
const question: CloudQuestion = {
  since: '2026-11-20T02:30:00Z',
  until: '2026-11-20T08:30:00Z',
  touched: () => Promise.reject(new Error('a snapshot looked at the cluster')),
};

describe('a case folder', () => {
  it('has a gap where a log cannot be read', () =>
    withFolder(caseFiles(), async (dir) => {
      const { kubernetes } = await openSnapshot(dir);
      await rm(join(dir, 'logs'), { recursive: true });
      expect(await kubernetes.log('shop', 'web-0', 'app', { previous: false, tailLines: 5 })).toMatchObject({
        ok: false,
        gap: { reason: 'failed', message: expect.stringContaining('app.log: cannot be read (ENOENT)') },
      });
    }));

  it('tells who, where and when', () =>
    withFolder(caseFiles(), async (dir) => {
      const { meta, now } = await openSnapshot(dir);
      expect(meta).toEqual({
        dir,
        id: 'conformance',
        title: 'Everything a reader has to get right',
        cluster: { name: 'test-1', provider: 'eks' },
        capturedAt: '2026-11-20T08:30:00Z',
      });
      expect(now()).toBe('2026-11-20T08:30:00Z');
    }));

  it('says which kinds were not collected, and how to collect them', () =>
    withFolder(caseFiles(), async (dir) => {
      const { kubernetes } = await openSnapshot(dir);
      expect(await kubernetes.list(resources.jobs, all)).toEqual({
        ok: false,
        gap: {
          reason: 'not-collected',
          message: 'jobs.batch are not in the snapshot',
          fix: 'kubectl get jobs.batch -A -o json > cluster/jobs.batch.json',
        },
      });
      const log = await kubernetes.log('shop', 'web-1', 'app', { previous: true, tailLines: 5 });
      expect(log).toMatchObject({
        ok: false,
        gap: {
          reason: 'not-collected',
          fix: 'kubectl logs web-1 -n shop -c app --previous > logs/shop/web-1/app.previous.log',
        },
      });
    }));

  it('has neither metrics nor a cloud account where none was recorded', () =>
    withFolder(caseFiles(), async (dir) => {
      expect(await openSnapshot(dir)).toMatchObject({ metrics: null, cloud: null });
    }));

  it('answers recorded cloud calls, and denies all others', () => {
    const series = {
      namespace: 'AWS/EC2',
      metric: 'StatusCheckFailed',
      dimensions: { InstanceId: 'i-1' },
      stat: 'Maximum',
      period: 60,
      points: [
        ['2026-11-20T07:50:00Z', 0],
        ['2026-11-20T08:00:00Z', 1],
      ],
    };
    const files = {
      'aws.json': { 'health.describeEvents': { events: [] } },
      'cloudwatch.json': { series: [series] },
    };
    return withFolder({ ...caseFiles(), ...files }, async (dir) => {
      const cloud = (await openSnapshot(dir)).cloud!;
      const value = { call: 'health.describeEvents', answer: { events: [] } };
      expect(await cloud.call('health.describeEvents', question)).toEqual({ ok: true, value, complete: true });
      expect(await cloud.call('ec2.describeSubnets', question)).toMatchObject({
        ok: false,
        gap: { reason: 'forbidden', fix: expect.stringContaining('`ec2:DescribeSubnets`') },
      });
      const seconds = (time: string): number => Date.parse(time) / 1000;
      const [start, end] = [seconds('2026-11-20T07:55:00Z'), seconds('2026-11-20T08:30:00Z')];
      const query = { namespace: 'AWS/EC2', metric: 'StatusCheckFailed', start, end };
      expect(await cloud.metrics([query, { ...query, metric: 'Other' }], question)).toMatchObject({
        ok: true,
        value: [{ periodSeconds: 60, points: [['2026-11-20T08:00:00Z', 1]] }],
      });
      expect(cloud.calls).toBe(3);
    });
  });

  it('denies CloudWatch where only other calls were recorded', () =>
    withFolder({ ...caseFiles(), 'aws.json': {} }, async (dir) => {
      const read = await (await openSnapshot(dir)).cloud!.metrics([], question);
      expect(read).toMatchObject({ ok: false, gap: { fix: expect.stringContaining('`cloudwatch:GetMetricData`') } });
    }));
});

describe('a folder without case.json', () => {
  const eksNode = node({ 'topology.kubernetes.io/region': 'eu-west-1' }, 'v1.33.1-eks-abc', 'aws:///eu-west-1a/i-1');

  it('is a snapshot of its newest moment', () =>
    withFolder({ 'some/where/nodes.json': eksNode }, async (dir) => {
      const { meta } = await openSnapshot(dir);
      expect(meta.capturedAt).toBe('2026-01-02T00:00:00.000Z');
      expect(meta.cluster).toEqual({ name: meta.id, provider: 'eks', region: 'eu-west-1' });
      expect(dir.endsWith(meta.id)).toBe(true);
    }));

  it.each([
    ['eks-auto', { 'eks.amazonaws.com/compute-type': 'auto' }, 'v1.33.1-eks-abc', 'aws:///eu-west-1a/i-1'],
    ['gke', {}, 'v1.33.1-gke.100', 'gce://p/z/n'],
    ['aks', { 'kubernetes.azure.com/cluster': 'mc' }, 'v1.33.1', 'azure:///subscriptions/x'],
    ['ack', {}, 'v1.33.1-aliyun.1', 'cn-hangzhou.i-x'],
    ['self', {}, 'v1.33.1', 'aws:///eu-west-1a/i-1'],
  ])('is of provider %s by its nodes', (provider, labels, kubeletVersion, providerID) =>
    withFolder({ 'n.json': node(labels, kubeletVersion, providerID) }, async (dir) => {
      expect((await openSnapshot(dir)).meta.cluster.provider).toBe(provider);
    }),
  );

  it('may be what kubectl cluster-info dump writes', () => {
    const web = { metadata: { name: 'web', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' } };
    const logs = [
      '==== START logs for container app of pod shop/web ====',
      'hello',
      '==== END logs for container app of pod shop/web ====',
      '==== START logs for container sidecar of pod shop/web ====',
      'world',
      '==== END logs for container sidecar of pod shop/web ====',
    ];
    const files = {
      'nodes.json': { kind: 'NodeList', apiVersion: 'v1', items: [{ metadata: { name: 'n' } }] },
      'shop/pods.json': { kind: 'PodList', apiVersion: 'v1', items: [web] },
      'shop/events.json': { kind: 'EventList', apiVersion: 'v1', items: [] },
      'shop/web/logs.txt': `${logs.join('\n')}\n`,
    };
    return withFolder(files, async (dir) => {
      const { kubernetes } = await openSnapshot(dir);
      expect(await kubernetes.get(resources.pods, 'web', 'shop')).toMatchObject({ ok: true, value: { kind: 'Pod' } });
      expect(await kubernetes.list(resources.events, all)).toMatchObject({
        ok: false,
        gap: { reason: 'not-collected' },
      });
      const tail = { previous: false, tailLines: 10 };
      expect(await kubernetes.log('shop', 'web', 'sidecar', tail)).toMatchObject({ ok: true, value: 'world\n' });
      expect(await kubernetes.log('shop', 'web', 'other', tail)).toMatchObject({ ok: false });
    });
  });

  it('may be a must-gather', () => {
    const base = 'quay-io-sha256-1/namespaces/shop/pods/web/app/app/logs';
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}\n';
    const files = {
      'quay-io-sha256-1/version': 'must-gather 4.18',
      'quay-io-sha256-1/namespaces/shop/pods/web/web.yaml': pod,
      [`${base}/current.log`]: 'now\n',
      [`${base}/previous.log`]: 'before\n',
      'quay-io-sha256-1/namespaces/shop/empty.yaml': '',
      'quay-io-sha256-1/etcd_info/endpoint_status.json': [{ Endpoint: 'https://10.0.0.1:2379' }],
    };
    return withFolder(files, async (dir) => {
      const { kubernetes } = await openSnapshot(dir);
      expect(await kubernetes.list(resources.pods, all)).toMatchObject({
        ok: true,
        value: [{ metadata: { name: 'web' } }],
      });
      const previous = await kubernetes.log('shop', 'web', 'app', { previous: true, tailLines: 10 });
      expect(previous).toMatchObject({ ok: true, value: 'before\n' });
    });
  });
});

describe('a folder that cannot be read', () => {
  const { 'case.json': good } = caseFiles();
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]', ...[...'bcdefghi'].map(unfolding)].join('\n');

  it.each([
    [
      'JSON that breaks off',
      { 'case.json': good, 'cluster/pods.json': '{"kind": "List", "items": [' },
      'cluster/pods.json: is not valid JSON',
    ],
    [
      'YAML that is none',
      { 'case.json': good, 'cluster/a.yaml': 'kind: Pod\n\tbad: [' },
      'cluster/a.yaml: is not valid YAML',
    ],
    [
      'a case without its times',
      { 'case.json': { id: 'x', provider: 'eks', cluster: 'c' } },
      'case.json: captured_at: ',
    ],
    [
      'metrics that are none',
      { 'case.json': good, 'metrics.om': 'up 1 1\n{"a":1}\n' },
      'metrics.om: is not OpenMetrics text: line 2',
    ],
    ['cloud answers that are none', { 'case.json': good, 'aws.json': [] }, 'aws.json: (root)'],
    [
      'YAML that unfolds without end',
      { 'case.json': good, 'cluster/a.yaml': bomb },
      'cluster/a.yaml: is not YAML to work with: Excessive alias count',
    ],
    [
      'an answer that cites by no pattern',
      { 'case.json': { ...(good as object), expected: { owner: 'app', must_cite: ['(('] } } },
      'case.json: expected.must_cite.0: no regular expression',
    ],
    ['nothing in it', { 'readme.txt': 'hello' }, 'holds no Kubernetes objects'],
  ])('names the file and its problem: %s', (_, files: Record<string, unknown>, message) =>
    withFolder(files, async (dir) => {
      const error = await openSnapshot(dir).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(SnapshotError);
      expect((error as SnapshotError).message).toContain(message);
      expect((error as SnapshotError).file.startsWith(dir)).toBe(true);
    }),
  );

  it('lists every problem of case.json at once', () =>
    withFolder({ 'case.json': { id: 'x', provider: 'eks' } }, async (dir) => {
      await expect(openSnapshot(dir)).rejects.toThrow(/cluster: .*; captured_at: /);
    }));

  it('reads the provider from the nodes where case.json names none that is known', () =>
    withFolder(
      {
        'case.json': { id: 'x', provider: 'elsewhere', cluster: 'c', captured_at: '2026-11-20T08:30:00Z' },
        'cluster/n.json': node({}, 'v1.33.4-eks-99d6cc0', 'aws:///eu-west-1a/i-1'),
      },
      async (dir) => {
        expect((await openSnapshot(dir)).meta.cluster).toEqual({ name: 'c', provider: 'eks' });
      },
    ));

  it('says that it is not there', async () => {
    await expect(openSnapshot('/nonexistent')).rejects.toThrow('/nonexistent: cannot be read as a folder (ENOENT)');
  });
});

describe('the incident folders', () => {
  it('all open, and none yields a Secret', async () => {
    const names = readdirSync('test/cases');
    expect(names.length).toBeGreaterThan(50);
    for (const name of names) {
      const { meta, kubernetes } = await openSnapshot(`test/cases/${name}`);
      expect(meta.id).toBe(name);
      expect(meta.expected?.owner).toBeDefined();
      expect((await kubernetes.list(resources.nodes, { limit: 5000 })).ok).toBe(true);
    }
  });
});
