/**
 * What a field may hold. `text`: a string, also written as a number or boolean. `time`: ISO 8601. `texts`: a list of
 * strings. `map`: strings by names that people chose; `quantities`: strings or numbers by such names. `object` and `objects` hold fields again; `opaque` is an object
 * whose fields have no types here. Several where a name stands for different things.
 */
export type FieldType =
  | 'text'
  | 'time'
  | 'number'
  | 'flag'
  | 'texts'
  | 'map'
  | 'quantities'
  | 'object'
  | 'objects'
  | 'opaque';

export type FieldTypes = Map<string, FieldType[]>;

/** `{ number: 'port', text: 'name port' }`; a name under several types where it may be either, the first that fits wins. */
export const fieldTypes = (names: Partial<Record<FieldType, string>>): FieldTypes => {
  const types: FieldTypes = new Map();
  for (const [type, list] of Object.entries(names) as [FieldType, string][])
    for (const name of list.trim().split(/\s+/)) types.set(name, [...(types.get(name) ?? []), type]);
  return types;
};

/** Deeper than any API nests; what lies below is cut, so that no walk over an answer can exhaust the stack. */
const maxDepth = 40;
/** A number beyond this is no count, port or second of anything, and breaks arithmetic with dates. */
const maxNumber = 1e15;

/** metav1.Condition bounds its message so; no other text that an API answers is read as a whole. */
const maxTextChars = 32_768;

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const scalarOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;

const textOf = (value: unknown): string | undefined => scalarOf(value)?.slice(0, maxTextChars);

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Math.abs(value) <= maxNumber ? value : undefined;

const quantityOf = (value: unknown): string | number | undefined =>
  typeof value === 'string' ? value : numberOf(value);

/** The value as this type has it; undefined where it is of another. */
const readAs = (type: FieldType, value: unknown, types: FieldTypes, depth: number): unknown => {
  switch (type) {
    case 'text':
      return textOf(value);
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined;
    case 'number':
      return numberOf(value);
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'texts':
      return Array.isArray(value) && value.every((item) => !isFields(item)) ? kept(value, textOf) : undefined;
    case 'map':
      return isFields(value) ? mapped(value, (_name, field) => scalarOf(field)) : undefined;
    case 'quantities':
      return isFields(value) ? mapped(value, (_name, field) => quantityOf(field)) : undefined;
    case 'object':
      return isFields(value) ? visited(value, types, depth) : undefined;
    case 'objects':
      return Array.isArray(value)
        ? kept(value, (item) => (isFields(item) ? visited(item, types, depth) : undefined))
        : undefined;
    case 'opaque':
      return isFields(value) ? visited(value, new Map(), depth) : undefined;
  }
};

/** The same list when nothing changed, so that a clean answer costs no memory. */
const kept = (list: unknown[], change: (item: unknown) => unknown): unknown[] => {
  let changed: unknown[] | null = null;
  for (let index = 0; index < list.length; index++) {
    const after = change(list[index]);
    if (after === list[index]) changed?.push(after);
    else {
      changed ??= list.slice(0, index);
      if (after !== undefined) changed.push(after);
    }
  }
  return changed ?? list;
};

const mapped = (fields: Fields, change: (name: string, value: unknown) => unknown): Fields => {
  const changes = new Map<string, unknown>();
  for (const name of Object.keys(fields)) {
    const after = change(name, fields[name]);
    if (after !== fields[name]) changes.set(name, after);
  }
  if (changes.size === 0) return fields;
  const entries = Object.entries(fields).map(([name, value]) => [name, changes.has(name) ? changes.get(name) : value]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
};

const visited = (value: unknown, types: FieldTypes, depth: number): unknown => {
  if (depth > maxDepth) return undefined;
  if (Array.isArray(value)) return kept(value, (item) => visited(item, types, depth + 1));
  if (!isFields(value)) return value;
  return mapped(value, (name, field) => {
    const allowed = types.get(name);
    if (!allowed) return visited(field, types, depth + 1);
    for (const type of allowed) {
      const read = readAs(type, field, types, depth + 1);
      if (read !== undefined) return read;
    }
    return undefined;
  });
};

/**
 * The answer of an API with every field of the wrong type left out, as if it had not been sent: whoever reads it needs
 * to expect absence only. A field whose name has no type stays as it is. The same value when all is well.
 */
export const wellFormed = <T>(answer: T, types: FieldTypes): T => visited(answer, types, 0) as T;
