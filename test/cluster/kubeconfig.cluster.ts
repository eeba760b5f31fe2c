import { randomBytes } from 'node:crypto';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import { connect } from '../../src/evidence/kubernetes/connection.ts';
import { liveCluster } from '../../src/evidence/kubernetes/live.ts';
import { crashLoopPod, isCrashLooping } from './crash-loop.ts';
import { readerChecks } from './reader-checks.ts';
import { triageCheck } from './triage-check.ts';

const kubeconfig = process.env.KUBECONFIG;
if (!kubeconfig) console.warn('Skipped: KUBECONFIG names no cluster (KUBECONFIG=… npm run test:cluster).');

/** A pull, two runs and the kubelet's back-off of 10 s and 20 s. */
const crashLoopMs = 180_000;

/** Writes to the cluster only here: one namespace with one pod, which go when the suite ends. */
describe.skipIf(!kubeconfig)('the cluster of KUBECONFIG', () => {
  const namespace = `faultline-test-${randomBytes(4).toString('hex')}`;
  const pod = { namespace, name: 'crash-loop', container: 'app', labelSelector: 'app=crash-loop' };
  let api: CoreV1Api;
  let connection: ReturnType<typeof connect>;

  beforeAll(async () => {
    const config = new KubeConfig();
    config.loadFromDefault();
    api = config.makeApiClient(CoreV1Api);
    connection = connect({});
    await api.createNamespace({ body: { metadata: { name: namespace } } });
    await api.createNamespacedPod({ namespace, body: crashLoopPod(pod.name) });
    const isUp = async () => isCrashLooping((await api.readNamespacedPod({ namespace, name: pod.name })) as KubeObject);
    await expect.poll(isUp, { timeout: crashLoopMs, interval: 1000 }).toBe(true);
  }, crashLoopMs + 30_000);

  afterAll(async () => {
    connection?.close();
    // A namespace that was never made is gone already.
    await api?.deleteNamespace({ name: namespace }).catch((error) => {
      if (error?.code !== 404) throw error;
    });
  });

  const open = () => {
    const reader = liveCluster(connection).reader();
    const now = () => new Date().toISOString();
    return { pod, reader, readers: { kubernetes: reader, metrics: null, cloud: null, now } };
  };
  readerChecks(open);
  triageCheck(open);
});
