import { readText } from './snapshot-files.ts';

/** Container logs of a snapshot. */
export interface SnapshotLogs {
  /** The whole text, or null where this log is not in the snapshot. */
  read(namespace: string, pod: string, container: string, previous: boolean): Promise<string | null>;
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
