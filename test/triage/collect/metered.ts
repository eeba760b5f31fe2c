import type { KubeObject } from '../../../src/domain/kubernetes.ts';
import { caseFile } from '../../../src/evidence/kubernetes/case-file.ts';
import { defaultCallTimeoutMs } from '../../../src/evidence/kubernetes/gaps.ts';
import type { Snapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { listSnapshotFiles, readChecked } from '../../../src/evidence/kubernetes/snapshot-files.ts';
import { indexLogs } from '../../../src/evidence/kubernetes/snapshot-logs.ts';
import { loadObjects } from '../../../src/evidence/kubernetes/snapshot-objects.ts';
import { snapshotReader } from '../../../src/evidence/kubernetes/snapshot-reader.ts';
import type { CloudReader, ClusterReaders, KubernetesReader, Read, Resource } from '../../../src/triage/ports.ts';
import { isBuiltIn } from '../../../src/triage/resources.ts';

/** A recorded cluster that is read as a live one: each call is counted, and a triage has only so many. */
export interface MeteredCluster {
  /** Readers of one layer, as its job has them. */
  readers(): { readers: ClusterReaders; roundTrips(): number };
  /** Calls that reached the API server. */
  readonly calls: string[];
}

/** Among so many other objects as `neighbours` holds. */
export const meteredCluster = async (
  snapshot: Snapshot,
  maxApiCalls: number,
  neighbours: KubeObject[] = [],
): Promise<MeteredCluster> => {
  const recorded = await recordedReader(snapshot.meta.dir, neighbours);
  const calls: string[] = [];
  const inFlight = new Map<string, Promise<Read<any>>>();

  const reader = (): KubernetesReader & { roundTrips: number } => {
    let roundTrips = 0;
    /** Joins an equal call in flight; a new one begins a round trip after those that are over. */
    const call = async <T>(what: string, answer: () => Promise<Read<T>>): Promise<Read<T>> => {
      const depth = roundTrips + 1;
      const running = inFlight.get(what);
      if (!running) {
        calls.push(what);
        inFlight.set(
          what,
          new Promise((resolve) => setImmediate(resolve)).then(answer).finally(() => inFlight.delete(what)),
        );
      }
      const read: Read<T> = await inFlight.get(what)!;
      roundTrips = Math.max(roundTrips, depth);
      return running ? { ...read, free: true } : read;
    };
    const serves = async (resource: Resource): Promise<boolean> => {
      if (isBuiltIn(resource)) return true;
      const read = await recorded.list(resource, { limit: 1 });
      return read.ok || read.gap.reason !== 'not-collected';
    };
    return {
      serves,
      get: (resource, name, namespace) =>
        call(`get ${resource.plural} ${namespace}/${name}`, () => recorded.get(resource, name, namespace)),
      async list(resource, options) {
        if (!(await serves(resource))) return { ...(await recorded.list(resource, options)), free: true };
        return call(`list ${resource.plural} ${JSON.stringify(options)}`, () => recorded.list(resource, options));
      },
      log: (namespace, pod, container, options) =>
        call(`log ${namespace}/${pod}/${container} ${options.previous}`, () =>
          logOf(recorded, namespace, pod, container, options),
        ),
      probe: (path) => call(`probe ${path}`, () => recorded.probe(path)),
      get calls() {
        return calls.length;
      },
      get roundTrips() {
        return roundTrips;
      },
    };
  };

  return {
    calls,
    readers() {
      const kubernetes = reader();
      const { metrics, now } = snapshot;
      return {
        readers: { kubernetes, metrics, cloud: asking(snapshot.cloud), maxApiCalls, now },
        roundTrips: () => kubernetes.roundTrips,
      };
    },
  };
};

/** A live API server has a log of each container; a folder holds a few, so most of what is asked for is not there. */
const logOf = async (
  recorded: KubernetesReader,
  namespace: string,
  pod: string,
  container: string,
  options: { previous: boolean; tailLines: number },
): Promise<Read<string>> => {
  const read = await recorded.log(namespace, pod, container, options);
  if (read.ok || read.gap.reason !== 'not-collected') return read;
  // Of a container that waits to be started again, the kubelet gives the same log for both.
  const object = await recorded.get({ group: '', version: 'v1', plural: 'pods', kind: 'Pod' }, pod, namespace);
  const status = object.ok && object.value.status?.containerStatuses?.find((entry: any) => entry.name === container);
  const other =
    status?.state?.waiting &&
    (await recorded.log(namespace, pod, container, { ...options, previous: !options.previous }));
  return other?.ok ? other : { ok: false, gap: { ...read.gap, reason: 'not-found' } };
};

/** The recorded answers of a cloud, after the look at the cluster that a live reader takes first. */
const asking = (cloud: CloudReader | null): CloudReader | null =>
  cloud && {
    async call(operation, question) {
      await question.touched();
      return cloud.call(operation, question);
    },
    async metrics(queries, question) {
      await question.touched();
      return cloud.metrics(queries, question);
    },
    get calls() {
      return cloud.calls;
    },
  };

const recordedReader = async (dir: string, neighbours: KubeObject[]): Promise<KubernetesReader> => {
  const files = await listSnapshotFiles(dir);
  const recorded = await readChecked(files.all.get('case.json'), caseFile);
  const key = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  const objects = [...(await loadObjects(files.objects)), ...neighbours].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return snapshotReader(
    { objects, collected: recorded?.collected ?? [], apiserver: recorded?.apiserver, logs: indexLogs(files.all) },
    defaultCallTimeoutMs,
  );
};
