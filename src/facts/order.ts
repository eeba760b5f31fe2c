/** Compares by code units: the same on every machine. */
export const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sorts by a key that is computed once per item. */
export const sortedBy = <T>(list: T[], key: (item: T) => string): T[] =>
  list
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => inOrder(a.key, b.key))
    .map(({ item }) => item);
