import { chance } from '../metamorphic/case-files.ts';

/** What stands where something else belongs: every JSON type, and texts that look like what they are not. */
const strangers = (): unknown[] => [
  null,
  'x',
  '',
  -1,
  1e308,
  true,
  [],
  {},
  [null],
  ['x', 7],
  [[]],
  [{}],
  { a: null },
  { toString: 1, __proto__: null, constructor: 'x' },
  '9999-99-99T99:99:99Z',
  '-5Qi',
  '\u0000\ud83d\u202e{{ x }}<!channel>',
];

interface Mutator {
  /** The value with about `rate` of its fields dropped, nulled, of another type, repeated or in another order. */
  mutate(value: unknown, rate: number): unknown;
}

/** The same seed spoils the same fields. */
export const mutator = (seed: number): Mutator => {
  const random = chance(seed);
  const pick = <T>(list: T[]): T => list[Math.floor(random() * list.length)]!;
  const visit = (value: unknown, rate: number): unknown => {
    if (random() < rate) return pick(strangers());
    if (Array.isArray(value)) {
      const items = value.map((item) => visit(item, rate));
      if (random() < rate) items.reverse();
      if (items.length > 0 && random() < rate) items.push(structuredClone(pick(items)));
      return items;
    }
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).filter(() => random() >= rate);
    return Object.fromEntries(kept.map(([key, field]) => [key, visit(field, rate)]));
  };
  return { mutate: visit };
};
