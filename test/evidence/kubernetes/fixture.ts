import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const pod = (namespace: string, name: string, labels: Record<string, string>, node: string, phase = 'Running') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, uid: `uid-${namespace}-${name}`, labels, creationTimestamp: '2026-11-20T08:00:00Z' },
  spec: { nodeName: node, containers: [{ name: 'app' }] },
  status: { phase },
});

const pods = [
  pod('shop', 'web-2', { app: 'web', track: 'canary' }, 'node-b', 'Pending'),
  pod('shop', 'web-0', { app: 'web', track: 'stable' }, 'node-a'),
  pod('shop', 'web-1', { app: 'web', track: 'stable' }, 'node-b'),
  pod('shop', 'worker-0', { app: 'worker' }, 'node-a', 'Failed'),
  pod('billing', 'web-0', { app: 'web', track: 'beta' }, 'node-a'),
];

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'uid-web',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"password":"hunter2"}', team: 'storefront' },
    managedFields: [
      { manager: 'argocd', operation: 'Apply', time: '2026-11-20T08:10:00Z', fieldsV1: { 'f:spec': {} } },
      { manager: 'bulk', operation: 'Update', fieldsV1: { 'f:data': 'x'.repeat(20_000) } },
    ],
  },
  spec: { replicas: 3 },
};

const events = [
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'web-2.1', namespace: 'shop', uid: 'uid-event-1' },
    involvedObject: { kind: 'Pod', name: 'web-2', namespace: 'shop', uid: 'uid-shop-web-2' },
    reason: 'FailedScheduling',
    message: '0/2 nodes are available',
    type: 'Warning',
    source: { component: 'default-scheduler' },
    lastTimestamp: '2026-11-20T08:20:00Z',
  },
  {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'web-2.2', namespace: 'shop', uid: 'uid-event-2' },
    regarding: { kind: 'Pod', name: 'web-2', namespace: 'shop', uid: 'uid-shop-web-2' },
    reason: 'Nominated',
    note: 'Pod should schedule on: nodeclaim/default-x',
    type: 'Normal',
    reportingController: 'karpenter',
    eventTime: '2026-11-20T08:20:30.000000Z',
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'node-a.1', namespace: 'default', uid: 'uid-event-3' },
    involvedObject: { kind: 'Node', name: 'node-a', uid: 'node-a' },
    reason: 'NodeNotReady',
    message: 'Node node-a status is now: NodeNotReady',
    type: 'Normal',
    source: { component: 'node-controller' },
    lastTimestamp: '2026-11-20T08:21:00Z',
  },
];

const nodeYaml = `# two documents in one file
apiVersion: v1
kind: Node
metadata: {name: node-a, uid: uid-node-a, labels: {topology.kubernetes.io/zone: a}}
spec: {unschedulable: true}
---
apiVersion: v1
kind: Node
metadata: {name: node-b, uid: uid-node-b, labels: {topology.kubernetes.io/zone: b}}
spec: {}
`;

const nodeClass = {
  apiVersion: 'karpenter.azure.com/v1alpha2',
  kind: 'AKSNodeClass',
  metadata: { name: 'default', uid: 'uid-nodeclass' },
  spec: { imageFamily: 'Ubuntu2204' },
};

export interface CaseOptions {
  deny?: string[];
  fail?: { resource: string; status: number; message: string; latency_ms?: number }[];
}

const caseJson = ({ deny = [], fail = [] }: CaseOptions) => ({
  id: 'conformance',
  title: 'Everything a reader has to get right',
  provider: 'eks',
  cluster: 'test-1',
  captured_at: '2026-11-20T08:30:00Z',
  collected: ['PodDisruptionBudget', 'EC2NodeClass', 'Lease', 'ConfigMap', 'StatefulSet'],
  apiserver: {
    readyz: { status: 500, body: '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed' },
    livez: { status: 200, body: 'ok' },
    latency_ms: 5,
    deny,
    fail,
  },
});

/** Writes files by their path below a fresh folder, and hands it to `use`. */
export async function withFolder<T>(files: Record<string, unknown>, use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'snapshot-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(dir, name)), { recursive: true });
      await writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** The files of one incident folder with something of everything. */
export const caseFiles = (options: CaseOptions = {}): Record<string, unknown> => ({
  'case.json': caseJson(options),
  'cluster/pods.json': { kind: 'List', apiVersion: 'v1', items: pods },
  'cluster/deep/er/deployments.json': { kind: 'DeploymentList', apiVersion: 'apps/v1', items: [untyped(deployment)] },
  'cluster/events.json': { kind: 'List', apiVersion: 'v1', items: events },
  'cluster/nodes.yaml': nodeYaml,
  'cluster/nodeclass.yml': JSON.stringify(nodeClass),
  'cluster/secrets.json': {
    kind: 'List',
    apiVersion: 'v1',
    items: [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'shop' }, data: { password: 'c2VjcmV0' } },
    ],
  },
  'logs/shop/web-0/app.log': 'one\ntwo\nthree\nfour\n',
  'logs/shop/web-0/app.previous.log': 'panic: boom\n',
});

const untyped = <T extends { kind: string; apiVersion: string }>({ kind: _kind, apiVersion: _version, ...rest }: T) =>
  rest;
