import type { PastLogsReader } from '../../triage/ports.ts';
import { storedLogs } from '../past-logs.ts';
import { readText } from './snapshot-files.ts';

/** Container logs of a snapshot. */
export interface SnapshotLogs {
  /** The whole text, or null where this log is not in the snapshot. */
  read(namespace: string, pod: string, container: string, previous: boolean): Promise<string | null>;
  /** Containers of a pod that have a log of their own. */
  containersOf(namespace: string, pod: string, previous: boolean): string[];
}

const key = (...parts: (string | boolean)[]): string => parts.join('/');

/** logs/<namespace>/<pod>/<container>.log and <container>.previous.log */
const caseLog = /^logs\/([^/]+)\/([^/]+)\/([^/]+?)(\.previous)?\.log$/;
/** must-gather: namespaces/<namespace>/pods/<pod>/<container>/<container>/logs/{current,previous}.log */
const mustGatherLog = /(?:^|\/)namespaces\/([^/]+)\/pods\/([^/]+)\/([^/]+)\/\3\/logs\/(current|previous)\.log$/;
/** kubectl cluster-info dump: <namespace>/<pod>/logs.txt, all containers in one file */
const dumpLog = /(?:^|\/)([^/]+)\/([^/]+)\/logs\.txt$/;

/** Finds logs by the layouts that tools write. Names are looked up, never joined into paths. */
export function indexLogs(files: Map<string, string>): SnapshotLogs {
  const single = new Map<string, string>();
  const dumps = new Map<string, string>();
  for (const [name, path] of files) {
    const log = caseLog.exec(name);
    if (log) single.set(key(log[1]!, log[2]!, log[3]!, log[4] !== undefined), path);
    const gathered = mustGatherLog.exec(name);
    if (gathered) single.set(key(gathered[1]!, gathered[2]!, gathered[3]!, gathered[4] === 'previous'), path);
    const dump = dumpLog.exec(name);
    if (dump) dumps.set(key(dump[1]!, dump[2]!), path);
  }
  return {
    containersOf(namespace, pod, previous) {
      const prefix = key(namespace, pod, '');
      const keys = [...single.keys()].filter((one) => one.startsWith(prefix) && one.endsWith(`/${previous}`));
      return keys.map((one) => one.slice(prefix.length, -`/${previous}`.length)).sort();
    },
    async read(namespace, pod, container, previous) {
      const path = single.get(key(namespace, pod, container, previous));
      if (path) return readText(path);
      const dump = previous ? undefined : dumps.get(key(namespace, pod));
      return dump ? sectionOf(await readText(dump), container) : null;
    },
  };
}

/** `==== START logs for container web of pod shop/web-0 ====` … `==== END logs for …` */
function sectionOf(dump: string, container: string): string | null {
  const lines = dump.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`==== START logs for container ${container} of pod `));
  if (start < 0) return null;
  const end = lines.findIndex((line, index) => index > start && line.startsWith('==== END logs for container '));
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n');
}

/** Logs that a snapshot holds of pods that are gone, as a log store would give them. */
export function snapshotPastLogs(logs: SnapshotLogs): PastLogsReader {
  return storedLogs({
    async ask({ namespace, pod, container, previous }) {
      const containers = logs.containersOf(namespace, pod, previous).filter((one) => !container || one === container);
      const texts = await Promise.all(containers.map((one) => logs.read(namespace, pod, one, previous)));
      const lines = texts.flatMap((text, index) =>
        (text ?? '').split('\n').map((line) => ({ at: 0, container: containers[index], text: line })),
      );
      return { ok: true, value: lines, complete: true };
    },
  });
}
