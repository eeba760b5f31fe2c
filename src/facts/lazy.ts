/** A value that is made when it is first asked for, and kept. */
export const lazily = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

/**
 * A view of something that does not change, made once for each and kept as long as it lives: what many rules ask of
 * the same facts costs once. All who ask share the answer, so an array is frozen.
 */
export const onceFor = <K extends object, T>(view: (of: K) => T): ((of: K) => T) => {
  const kept = new WeakMap<K, { value: T }>();
  return (of) => {
    let made = kept.get(of);
    if (!made) {
      const value = view(of);
      made = { value: Array.isArray(value) ? Object.freeze(value) : value };
      kept.set(of, made);
    }
    return made.value;
  };
};
