import { basename, resolve } from 'node:path';
import type { ClusterIdentity } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterReaders } from '../../triage/ports.ts';
import { cloudSnapshot } from '../aws/snapshot.ts';
import { metricsSnapshot } from '../prometheus/snapshot.ts';
import { type CaseFile, caseFile, type ExpectedAnswer } from './case-file.ts';
import { defaultCallTimeoutMs } from './gaps.ts';
import { SnapshotError } from './snapshot-error.ts';
import { listSnapshotFiles, readChecked } from './snapshot-files.ts';
import { newestTime, providerOf, regionOf } from './snapshot-identity.ts';
import { indexLogs, snapshotPastLogs } from './snapshot-logs.ts';
import { loadObjects } from './snapshot-objects.ts';
import { snapshotReader } from './snapshot-reader.ts';

interface SnapshotMeta {
  /** Absolute path of the folder. */
  dir: string;
  id: string;
  title: string;
  cluster: ClusterIdentity;
  /** ISO 8601; the "now" of the snapshot. */
  capturedAt: string;
  /** The agreed answer, where the folder is a case. */
  expected?: ExpectedAnswer;
}

export interface Snapshot extends ClusterReaders {
  meta: SnapshotMeta;
}

/**
 * Opens an incident folder, or any tree of Kubernetes objects (`kubectl cluster-info dump`, must-gather).
 * Recorded latencies count as timeouts above `callTimeoutMs`. Throws SnapshotError where a file cannot be read.
 */
export async function openSnapshot(dir: string, options: { callTimeoutMs?: number } = {}): Promise<Snapshot> {
  const files = await listSnapshotFiles(dir);
  const recorded = await readChecked(files.all.get('case.json'), caseFile);
  const objects = await loadObjects(files.objects);
  const logs = indexLogs(files.all);
  const meta = recorded ? metaOfCase(dir, recorded, objects) : metaOfObjects(dir, objects);
  return {
    meta,
    kubernetes: snapshotReader(
      { objects, collected: recorded?.collected ?? [], apiserver: recorded?.apiserver, logs },
      options.callTimeoutMs ?? defaultCallTimeoutMs,
    ),
    metrics: await metricsSnapshot(files.all.get('metrics.om')),
    cloud: await cloudSnapshot(files.all.get('aws.json'), files.all.get('cloudwatch.json')),
    pastLogs: snapshotPastLogs(logs),
    now: () => meta.capturedAt,
  };
}

const metaOfCase = (dir: string, recorded: CaseFile, objects: KubeObject[]): SnapshotMeta => ({
  dir: resolve(dir),
  id: recorded.id,
  title: recorded.title,
  cluster: {
    name: recorded.cluster,
    provider: recorded.provider ?? providerOf(objects),
    ...(recorded.region ? { region: recorded.region } : {}),
    ...(recorded.account ? { account: recorded.account } : {}),
  },
  capturedAt: recorded.captured_at,
  ...(recorded.expected ? { expected: recorded.expected } : {}),
});

function metaOfObjects(dir: string, objects: KubeObject[]): SnapshotMeta {
  const capturedAt = newestTime(objects);
  if (!capturedAt) {
    throw new SnapshotError(
      dir,
      'holds no Kubernetes objects; write some with: kubectl get pods -A -o json > pods.json',
    );
  }
  const name = basename(resolve(dir));
  const region = regionOf(objects);
  return {
    dir: resolve(dir),
    id: name,
    title: '',
    cluster: { name, provider: providerOf(objects), ...(region ? { region } : {}) },
    capturedAt,
  };
}
