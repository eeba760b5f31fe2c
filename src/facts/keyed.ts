/** What is found by three names, of which no key has to be joined. The one that most often finds nothing goes first. */
export class Keyed<T> {
  readonly #first = new Map<string, Map<string, Map<string, T>>>();

  get(first: string, second: string, third: string): T | undefined {
    return this.#first.get(first)?.get(second)?.get(third);
  }

  /** What stands there; made if nothing does. */
  at(first: string, second: string, third: string, make: () => T): T {
    const seconds = entry(this.#first, first, newMap<Map<string, T>>);
    return entry(entry(seconds, second, newMap<T>), third, make);
  }
}

const newMap = <T>(): Map<string, T> => new Map();

const entry = <T>(map: Map<string, T>, key: string, make: () => T): T => {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
};
