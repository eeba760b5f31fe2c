import { isSecretName, isSecretValue, kindOfName } from './names.ts';
import { isTag, tagOf } from './span.ts';
import { redactText, suspectsAmong } from './text.ts';

type Fields = Record<string, unknown>;

/** What one call knows: the texts worth a look, and what became of those looked at. */
interface Pass {
  suspects: Set<string>;
  judged: Map<string, string>;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' &&
  value !== null &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);

/** The same value when nothing changed, so that a clean object costs no memory. */
const mapFields = (fields: Fields, change: (key: string, value: unknown) => unknown): Fields => {
  let changed: Fields | null = null;
  for (const key of Object.keys(fields)) {
    const after = change(key, fields[key]);
    if (after === fields[key]) continue;
    changed ??= { ...fields };
    changed[key] = after;
  }
  return changed ?? fields;
};

/** Objects embedded as JSON text: last-applied-configuration, a log line, a docker config. Null when it is none. */
const embeddedJson = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const base64 = /^[A-Za-z0-9+/_-]{24,}={0,2}$/;
const printable = /^[\t\n\r\x20-\x7e]{16,}$/;

/** Base64 of something that holds a secret is a secret. */
const hidesSecret = (text: string): boolean => {
  if (text.length % 4 !== 0 || !base64.test(text)) return false;
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return printable.test(decoded) && redact(decoded) !== decoded;
};

const judgeString = (text: string, pass: Pass): string => {
  const embedded = embeddedJson(text);
  if (embedded !== null) {
    const clean = redact(embedded);
    if (clean !== embedded) return redactText(JSON.stringify(clean));
  }
  if (hidesSecret(text)) return tagOf('base64');
  return pass.suspects.has(text) ? redactText(text) : text;
};

const shortest = 8;

const redactString = (text: string, pass: Pass): string => {
  if (text.length < shortest || isTag(text)) return text;
  let clean = pass.judged.get(text);
  if (clean === undefined) {
    clean = judgeString(text, pass);
    pass.judged.set(text, clean);
  }
  return clean;
};

const namedSecret = (name: string, value: unknown): string | null => {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value);
  if (isTag(text) || !isSecretName(name) || !isSecretValue(name, text)) return null;
  if (typeof value === 'number' && !/pass|pwd|secret/i.test(name)) return null;
  return tagOf(kindOfName(name));
};

const pairNames = ['name', 'key', 'Name', 'Key', 'header', 'ParameterKey'] as const;
const pairValues = ['value', 'Value', 'ParameterValue'] as const;

/** `{ name: "DB_PASSWORD", value: "…" }`: environment variables, headers, tags, parameters. */
const pairName = (fields: Fields): string | null => {
  if (!pairValues.some((key) => key in fields)) return null;
  const key = pairNames.find((candidate) => typeof fields[candidate] === 'string');
  return key ? (fields[key] as string) : null;
};

const dropValues = (data: unknown): unknown =>
  isFields(data)
    ? mapFields(data, (_key, value) => (typeof value === 'string' && isTag(value) ? value : tagOf('secret-data')))
    : tagOf('secret-data');

const walkField = (fields: Fields, key: string, value: unknown, pair: string | null, pass: Pass): unknown => {
  if (fields.kind === 'Secret' && (key === 'data' || key === 'stringData') && value) return dropValues(value);
  const name = pair !== null && pairValues.some((candidate) => candidate === key) ? pair : key;
  return namedSecret(name, value) ?? walk(value, pass);
};

const flag = /^--?[A-Za-z][\w-]*$/;

/** Arguments come as two elements too: `["--password", "…"]`. */
const walkList = (list: unknown[], pass: Pass): unknown[] => {
  let changed: unknown[] | null = null;
  list.forEach((element, index) => {
    const before = list[index - 1];
    const named =
      typeof before === 'string' && flag.test(before) ? namedSecret(before.replace(/^-+/, ''), element) : null;
    const after = named && !String(element).startsWith('-') ? named : walk(element, pass);
    if (after === element) return;
    changed ??= [...list];
    changed[index] = after;
  });
  return changed ?? list;
};

const walk = (value: unknown, pass: Pass): unknown => {
  if (typeof value === 'string') return redactString(value, pass);
  if (Array.isArray(value)) return walkList(value, pass);
  if (!isFields(value)) return value;
  const pair = pairName(value);
  return mapFields(value, (key, field) => walkField(value, key, field, pair, pass));
};

const collectTexts = (value: unknown, texts: Set<string>): void => {
  if (typeof value === 'string') {
    if (value.length >= shortest) texts.add(value);
  } else if (Array.isArray(value)) for (const element of value) collectTexts(element, texts);
  else if (isFields(value)) for (const key of Object.keys(value)) collectTexts(value[key], texts);
};

/**
 * A JSON value with every secret replaced by `[redacted:<kind>]`, however deep: by its shape, by the name of its field,
 * by the `name` of its `{ name, value }` pair, by the flag before it, inside embedded JSON and base64, and all data of
 * Secret objects. Never changes its input; returns it as it is when nothing was found. Idempotent.
 */
export const redact = <T>(value: T): T => {
  const texts = new Set<string>();
  collectTexts(value, texts);
  return walk(value, { suspects: suspectsAmong(texts), judged: new Map() }) as T;
};
