import type { ContainerLog, LogStore } from '../domain/facts.ts';
import type { PastLog, PastLogsReader, Read } from '../triage/ports.ts';
import { tailOf } from './kubernetes/log-tail.ts';

/** One line that a store kept. */
export interface StoredLine {
  /** Milliseconds since 1970. */
  at: number;
  /** Its container, where the store tells. */
  container?: string;
  text: string;
}

/** Lines asked of a store for one pod: those of several containers share them. */
export const askedLines = 1000;
/** Of each container, from its end. */
const maxLines = 400;
const maxBytes = 256 * 1024;
/** An answer serves every triage of this time: a storm of alerts is one set of queries. */
const keepMs = 30_000;

interface Store {
  ask(wanted: PastLog): Promise<Read<StoredLine[]>>;
  /** Absent: the store is a snapshot, which cites nothing of its own. */
  cite?(wanted: PastLog): LogStore;
}

/** A store as the reader of past logs: cut to the last lines of each container, the same question asked once. */
export function storedLogs({ ask, cite }: Store, now: () => number = Date.now): PastLogsReader {
  const answers = new Map<string, { read: Promise<Read<ContainerLog[]>>; until: number }>();
  const logsOf = async (wanted: PastLog): Promise<Read<ContainerLog[]>> => {
    const read = await ask(wanted);
    if (!read.ok) return read;
    const { namespace, pod, previous } = wanted;
    const lines = read.value.toSorted((a, b) => a.at - b.at);
    const byContainer = Map.groupBy(lines, ({ container }) => container ?? wanted.container ?? '');
    const logs = [...byContainer].map(([container, own]) => {
      const text = own.map((line) => plainLine(line.text)).join('\n');
      const { value } = tailOf(text, maxLines, maxBytes);
      return { namespace, pod, container, previous, text: value, ...(cite && { store: cite(wanted) }) };
    });
    return { ...read, value: logs.filter(({ container, text }) => container && text) };
  };
  return {
    async read(wanted) {
      const key = JSON.stringify(wanted);
      const at = now();
      for (const [old, { until }] of answers) if (until <= at) answers.delete(old);
      const known = answers.get(key);
      if (known) return { ...(await known.read), free: true };
      const read = logsOf(wanted);
      answers.set(key, { read, until: at + keepMs });
      const answer = await read;
      if (!answer.ok) answers.delete(key);
      return answer;
    },
  };
}

/** What the runtime writes before each line (CRI): time, stream, and whether the line is whole. */
const runtimePrefix = /^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] /;

/** What the container wrote, out of what collectors (Fluent Bit, Docker) wrap around it. */
function plainLine(text: string): string {
  const line = unwrapped(text).replace(runtimePrefix, '');
  return line.replace(/\s*\n/g, '\n').trimEnd();
}

function unwrapped(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const { log, stream, kubernetes } = JSON.parse(text);
    return typeof log === 'string' && (stream || kubernetes) ? log : text;
  } catch {
    return text;
  }
}
