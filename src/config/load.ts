import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { type Config, configSchema, type SettingMeta } from './schema.ts';
import { elementOf, metaOf, type Setting, schemaAt, settings, shapeOf } from './settings.ts';

/** One thing that is wrong. `found` never holds a secret's value. */
export interface Problem {
  key: string;
  found: string;
  allowed: string;
}

export type LoadedConfig = { ok: true; config: Config } | { ok: false; problems: Problem[] };

type Environment = Record<string, string | undefined>;
type ReadFile = (path: string) => string;

interface Layer {
  /** Folder that relative paths of this layer start from; null: the working directory, left as written. */
  folder: string | null;
  home: string;
  readFile: ReadFile;
  problems: Problem[];
}

const readText: ReadFile = (path) => readFileSync(path, 'utf8');

export const describeProblem = (problem: Problem): string =>
  `${problem.key}: found ${problem.found}, allowed is ${problem.allowed}`;

const reasonOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unreadable';

const readSecretFile = (key: string, path: string, layer: Layer): string | undefined => {
  try {
    return layer.readFile(placePath(path, layer)).trim();
  } catch (error) {
    layer.problems.push({ key, found: `${path} (${reasonOf(error)})`, allowed: 'a file this process can read' });
    return undefined;
  }
};

const placePath = (path: string, { folder, home }: Layer): string => {
  const expanded = path.startsWith('~/') && home ? home + path.slice(1) : path;
  return folder === null ? expanded : resolve(folder, expanded);
};

/** `<key>File: path` beside a secret setting `<key>`: the file's content takes the setting's place. */
const secretFileTarget = (key: string, shape: Record<string, z.core.$ZodType>): string | null => {
  const target = key.replace(/File$/, '');
  const schema = target === key || shape[key] ? undefined : shape[target];
  return schema && metaOf(schema)?.secret ? target : null;
};

/** What was written, with empty values dropped, paths placed and secrets read from the files that hold them. */
const prepare = (value: unknown, schema: z.core.$ZodType | undefined, key: string, layer: Layer): unknown => {
  if (!schema || value === null || value === undefined) return value ?? undefined;
  if (typeof value === 'string') return metaOf(schema)?.path ? placePath(value, layer) : value;
  const element = elementOf(schema);
  if (Array.isArray(value) && element) {
    return value.map((item, index) => prepare(item, element, `${key}[${index}]`, layer));
  }
  const shape = shapeOf(schema);
  if (!shape || typeof value !== 'object' || Array.isArray(value)) return value;
  const prepared: Record<string, unknown> = Object.create(null);
  for (const [name, field] of Object.entries(value)) {
    const at = key ? `${key}.${name}` : name;
    const target = secretFileTarget(name, shape);
    if (!target) {
      prepared[name] = prepare(field, shape[name], at, layer);
    } else if ((value as Record<string, unknown>)[target]) {
      layer.problems.push({ key: at, found: `${name} and ${target}`, allowed: 'one of the two' });
    } else if (typeof field === 'string') {
      prepared[target] = readSecretFile(at, field, layer);
    }
  }
  return prepared;
};

const fromYaml = (text: string, key: string, problems: Problem[]): unknown => {
  const document = parseDocument(text, { prettyErrors: false });
  for (const error of document.errors) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    problems.push({ key: `${key} line ${line}`, found: error.code, allowed: 'valid YAML' });
  }
  if (document.errors.length) return undefined;
  try {
    return document.toJS();
  } catch (error) {
    // Only found now: an alias (*name) without its anchor, or so many that they unfold into more than memory holds.
    const unfolds = /^Excessive alias count/.test((error as Error).message);
    problems.push({
      key,
      found: unfolds ? 'aliases (*name) that unfold without end' : 'an alias (*name) of nothing',
      allowed: "valid YAML; quote a text that begins with '*'",
    });
    return undefined;
  }
};

const fromFile = (env: Environment, layer: Layer): unknown => {
  const path = env.FAULTLINE_CONFIG || 'faultline.yaml';
  let text: string;
  try {
    text = layer.readFile(path);
  } catch (error) {
    if (env.FAULTLINE_CONFIG || reasonOf(error) !== 'ENOENT') {
      const allowed = 'a file this process can read';
      layer.problems.push({ key: 'FAULTLINE_CONFIG', found: `${path} (${reasonOf(error)})`, allowed });
    }
    return {};
  }
  const value = fromYaml(text, path, layer.problems) ?? {};
  if (typeof value === 'object' && !Array.isArray(value)) {
    return prepare(value, configSchema, '', { ...layer, folder: resolve(path, '..') });
  }
  layer.problems.push({ key: path, found: 'no mapping', allowed: 'lines of the form "key: value"' });
  return {};
};

const fromVariable = (setting: Setting, text: string, layer: Layer): unknown => {
  const schema = schemaAt(setting.key.split('.'));
  if (setting.type === 'text') return prepare(text, schema, setting.key, layer);
  const value = fromYaml(text, setting.env ?? setting.key, layer.problems);
  const listed =
    setting.type === 'list' && typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value;
  return prepare(listed, schema, setting.key, layer);
};

/** Value of a setting in the environment. An empty variable counts as unset, as Compose files write them. */
const variable = (setting: Setting, env: Environment, layer: Layer): string | undefined => {
  const { env: name, secret } = setting;
  if (!name) return undefined;
  const path = secret ? env[`${name}_FILE`] : undefined;
  if (!path) return env[name] || undefined;
  if (env[name]) {
    layer.problems.push({ key: name, found: `${name} and ${name}_FILE`, allowed: 'one of the two' });
    return undefined;
  }
  return readSecretFile(`${name}_FILE`, path, layer);
};

const assign = (target: Record<string, any>, key: string, value: unknown): void => {
  const steps = key.split('.');
  const last = steps.pop()!;
  let at = target;
  for (const step of steps) {
    const next = at[step];
    at[step] = next && typeof next === 'object' && !Array.isArray(next) ? { ...next } : {};
    at = at[step];
  }
  at[last] = value;
};

const keyOf = (path: readonly PropertyKey[]): string => {
  const key = path.reduce<string>((sum, step) => {
    if (typeof step === 'number') return `${sum}[${step}]`;
    return sum ? `${sum}.${String(step)}` : String(step);
  }, '');
  const schema = schemaAt(path);
  const env = schema && metaOf(schema)?.env;
  return env ? `${key} (${env})` : key;
};

const valueAt = (raw: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<any>((value, step) => (value === null || value === undefined ? undefined : value[step]), raw);

/** A value as it was written, without credentials of an address; of a section, which may hold secrets, its kind only. */
const show = (value: unknown, meta: SettingMeta | undefined): string => {
  if (value === undefined) return 'nothing';
  if (!meta) return Array.isArray(value) ? 'a list' : `a ${value === null ? 'null' : typeof value}`;
  if (meta.secret) return '[redacted]';
  const text = JSON.stringify(value).replace(/:\/\/[^/@\s]*@/g, '://[redacted]@');
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

const problemsOf = (issue: z.core.$ZodIssue, raw: unknown): Problem[] => {
  const schema = schemaAt(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys((schema && shapeOf(schema)) ?? {}).join(', ');
    return issue.keys.map((key) => ({ key: keyOf([...issue.path, key]), found: 'an unknown key', allowed: known }));
  }
  const meta = schema && metaOf(schema);
  const custom = issue.code === 'custom' ? issue.params?.found : undefined;
  const found = custom ?? show(valueAt(raw, issue.path), meta);
  return [{ key: keyOf(issue.path), found, allowed: custom ? issue.message : (meta?.allowed ?? issue.message) }];
};

/**
 * Reads the file named by FAULTLINE_CONFIG (default `./faultline.yaml`, which may be absent) and the environment, which
 * wins. Never throws for what a person wrote: every problem is listed, each with what was found and what is allowed.
 */
export const loadConfig = (env: Environment, readFile: ReadFile = readText): LoadedConfig => {
  const layer: Layer = { folder: null, home: env.HOME ?? '', readFile, problems: [] };
  const raw = fromFile(env, layer) as Record<string, unknown>;
  for (const setting of settings) {
    const text = variable(setting, env, layer);
    if (text !== undefined) assign(raw, setting.key, fromVariable(setting, text, layer));
  }
  const parsed = configSchema.safeParse(raw);
  const problems = [...layer.problems, ...(parsed.error?.issues ?? []).flatMap((issue) => problemsOf(issue, raw))];
  if (!parsed.success || problems.length) return { ok: false, problems };
  return { ok: true, config: parsed.data };
};
