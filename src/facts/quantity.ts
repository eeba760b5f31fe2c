const suffixes: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity (`100m`, `2Gi`, `1e3`) as a number of base units; NaN when absent or malformed. */
export const quantity = (value: string | number | undefined | null): number => {
  if (typeof value === 'number') return value;
  const match = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.exec(value ?? '');
  return match ? Number(match[1]) * suffixes[match[2] ?? '']! : Number.NaN;
};
