import type { MetricQuery, Read } from '../../triage/ports.ts';

type Range = Omit<MetricQuery, 'name'>;

/** Longest list of names in one query, in characters: with the rest of the URL below 8 KB, which every proxy takes. */
const maxNamesChars = 4000;
/** Names that can stand in a regular expression as they are. */
const plainName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

interface Batch<T> {
  range: Range;
  names: Map<string, { read: Promise<Read<T>>; settle: (read: Promise<Read<T>>) => void }>;
}

/**
 * Metrics that are asked for in one turn, with the same labels and range, go out as one question: a triage wants
 * some seventy names at once, and one query over many names costs Prometheus less than many queries.
 */
export function inBatches<T>(
  askAll: (names: string[], range: Range) => Promise<Map<string, Read<T>>>,
): (query: MetricQuery) => Promise<Read<T>> {
  const open = new Map<string, Batch<T>>();

  const close = async (key: string): Promise<void> => {
    const { range, names } = open.get(key)!;
    open.delete(key);
    await Promise.all(
      listsOf([...names.keys()]).map(async (list) => {
        // What goes wrong is told to those who asked: here nobody would catch it, and the process would end.
        const asked = askAll(list, range);
        await Promise.allSettled([asked]);
        for (const name of list) names.get(name)!.settle(asked.then((reads) => reads.get(name)!));
      }),
    );
  };

  return ({ name, ...range }) => {
    const key = JSON.stringify([
      Object.entries(range.matchers ?? {}).sort(),
      range.start,
      range.end,
      range.stepSeconds,
    ]);
    const batch = open.get(key) ?? { range, names: new Map() };
    if (!open.has(key)) {
      open.set(key, batch);
      setImmediate(close, key);
    }
    const known = batch.names.get(name);
    if (known) return known.read;
    const { promise, resolve } = Promise.withResolvers<Read<T>>();
    batch.names.set(name, { read: promise, settle: resolve });
    return promise;
  };
}

/** Names that fit one query together; one that is no name of a metric goes alone, for Prometheus to say so. */
function listsOf(names: string[]): string[][] {
  const lists: string[][] = names.filter((name) => !plainName.test(name)).map((name) => [name]);
  let current: string[] = [];
  let chars = 0;
  for (const name of names.filter((one) => plainName.test(one)).sort()) {
    if (chars + name.length + 1 > maxNamesChars) {
      lists.push(current);
      current = [];
      chars = 0;
    }
    current.push(name);
    chars += name.length + 1;
  }
  return current.length > 0 ? [...lists, current] : lists;
}

/** Two halves, so that a question too large for one answer is asked again in parts. */
export const halves = <T>(list: T[]): T[][] => {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
};
