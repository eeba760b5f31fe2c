import type { z } from 'zod';
import { configSchema, type SettingMeta } from './schema.ts';

type Schema = z.core.$ZodType;

/** One row of the settings table: README, `doctor` and the loader read it. */
export interface Setting extends SettingMeta {
  /** Path in the file: `slack.botToken`, `clusters[].name`. */
  key: string;
  /** Value when nothing is set; undefined: none. */
  fallback: unknown;
  /** `list`: in the environment as YAML, JSON or, for plain texts, separated by commas. */
  type: 'text' | 'number' | 'boolean' | 'list';
}

const def = (schema: Schema): any => schema._zod.def;

/** What a schema accepts, below optionality, defaults and transforms. */
const innermost = (schema: Schema): Schema => {
  const { type, innerType, in: input } = def(schema);
  if (type === 'optional' || type === 'default' || type === 'prefault') return innermost(innerType);
  return type === 'pipe' ? innermost(input) : schema;
};

/** Fields of an object schema, and nothing that every object has; null where the schema is no object. */
export const shapeOf = (schema: Schema): Record<string, Schema> | null => {
  const { shape } = def(innermost(schema));
  return shape ? Object.assign(Object.create(null), shape) : null;
};

export const elementOf = (schema: Schema): Schema | null => def(innermost(schema)).element ?? null;

export const metaOf = (schema: Schema): SettingMeta | undefined =>
  (schema as z.ZodType).meta() as unknown as SettingMeta | undefined;

/** The schema at a path of keys and indices, and the nearest one above it that knows what is allowed. */
export const schemaAt = (path: readonly PropertyKey[]): Schema | undefined =>
  path.reduce<Schema | undefined>((schema, step) => {
    if (!schema) return undefined;
    return typeof step === 'number' ? (elementOf(schema) ?? undefined) : shapeOf(schema)?.[String(step)];
  }, configSchema);

const typeOf = (schema: Schema): Setting['type'] => {
  const { type } = def(innermost(schema));
  if (type === 'array') return 'list';
  return type === 'number' || type === 'boolean' ? type : 'text';
};

const rows = (schema: Schema, key: string): Setting[] => {
  const meta = metaOf(schema);
  const own = meta ? [{ ...meta, key, fallback: def(schema).defaultValue, type: typeOf(schema) }] : [];
  const element = elementOf(schema);
  const fields = Object.entries(shapeOf(element ?? schema) ?? {});
  const prefix = element ? `${key}[].` : key && `${key}.`;
  return [...own, ...fields.flatMap(([name, field]) => rows(field, prefix + name))];
};

/** Every setting there is, in the order of the schema. */
export const settings: Setting[] = rows(configSchema, '');
