import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/evidence/kubernetes/connection.ts';
import { liveCluster } from '../../src/evidence/kubernetes/live.ts';
import { withFolder } from '../evidence/kubernetes/fixture.ts';
import { type KubernetesApi, startKubernetesApi } from '../fakes/kubernetes/server.ts';
import { crashLoopPod, isCrashLooping } from './crash-loop.ts';
import { readerChecks } from './reader-checks.ts';
import { lastWords, triageCheck } from './triage-check.ts';

const now = '2026-11-20T08:30:00Z';
const pod = { namespace: 'faultline-test', name: 'crash-loop', container: 'app', labelSelector: 'app=crash-loop' };

/** The pod as a kubelet reports it after a few attempts. */
const crashed = () => {
  const ended = { exitCode: 1, reason: 'Error', startedAt: '2026-11-20T08:27:00Z', finishedAt: '2026-11-20T08:27:01Z' };
  const status = {
    name: pod.container,
    restartCount: 4,
    ready: false,
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 1m20s restarting failed container' } },
    lastState: { terminated: ended },
  };
  const made = crashLoopPod(pod.name);
  const metadata = {
    ...made.metadata,
    namespace: pod.namespace,
    uid: 'uid-1',
    creationTimestamp: '2026-11-20T08:20:00Z',
  };
  return {
    ...made,
    metadata,
    spec: { ...made.spec, nodeName: 'node-a' },
    status: { phase: 'Running', containerStatuses: [status] },
  };
};

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: `uid-${name}` } });

const backOff = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'crash-loop.1', namespace: pod.namespace, uid: 'uid-2' },
  involvedObject: { kind: 'Pod', name: pod.name, namespace: pod.namespace, uid: 'uid-1' },
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container app in pod crash-loop',
  source: { component: 'kubelet' },
  count: 9,
  firstTimestamp: '2026-11-20T08:21:00Z',
  lastTimestamp: '2026-11-20T08:29:00Z',
};

const files = {
  'case.json': {
    id: 'double',
    provider: 'self',
    cluster: 'test',
    captured_at: now,
    apiserver: { readyz: { status: 200, body: 'ok' }, livez: { status: 200 }, deny: ['leases.coordination.k8s.io'] },
  },
  'cluster/objects.json': {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      namespace('default'),
      namespace(pod.namespace),
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-a', uid: 'uid-node-a' },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      },
      crashed(),
      backOff,
    ],
  },
  'logs/faultline-test/crash-loop/app.log': `${lastWords.join('\n')}\n`,
  'logs/faultline-test/crash-loop/app.previous.log': `${lastWords.join('\n')}\n`,
};

describe('the checks of a cluster, against the API double', () => {
  let api: KubernetesApi;
  let connection: ReturnType<typeof connect>;

  // The double reads logs from the folder when it is asked for them.
  const done = Promise.withResolvers<void>();
  let folder: Promise<void>;

  beforeAll(async () => {
    const ready = Promise.withResolvers<string>();
    folder = withFolder(files, (dir) => {
      ready.resolve(dir);
      return done.promise;
    });
    api = await startKubernetesApi(await ready.promise);
    connection = connect({ kubeconfig: api.kubeconfig });
  });
  afterAll(async () => {
    connection?.close();
    await api?.close();
    done.resolve();
    await folder;
  });

  const open = () => {
    const reader = liveCluster(connection, { pageSize: 2 }).reader();
    return { pod, reader, readers: { kubernetes: reader, metrics: null, cloud: null, now: () => now } };
  };
  readerChecks(open);
  triageCheck(open);

  it('waits for a pod that has crashed more than once', () => {
    expect(isCrashLooping(crashed())).toBe(true);
    expect(isCrashLooping({ ...crashed(), status: { phase: 'Pending' } })).toBe(false);
  });
});
