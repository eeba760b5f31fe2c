import { isSecretName, isSecretValue, kindOfName, secretWords } from './names.ts';
import type { Span } from './span.ts';

/**
 * Secrets without a shape of their own, told by the name beside them: `KEY=value`, `"password": "…"`, YAML, flags,
 * headers, `name:`/`value:` pairs. A scanner and not one regex: it visits each secret word once, looks at a bounded
 * neighbourhood and continues behind the value, so the time is linear whatever the text.
 */

const maxName = 128;
/** How much of an unquoted value after a colon is looked at to tell prose from a secret. */
const maxProse = 256;

const nameCharacter = /[\w./-]/;
const separator = /(?:\\{0,3}["'`\]])?\s{0,8}(?:=>|:=|==|[:=])[ \t]{0,16}/y;
const pairSeparator = /\\{0,3}["']?,?\s{0,64}\\{0,3}["']?value\\{0,3}["']?\s{0,4}[:=]\s{0,8}/iy;
const flagSeparator = /(?:\\{0,3}["']?\s{0,4},\s{0,64}|["']?\s{1,64})(?:-\s{1,4})?(?=\\{0,3}["']?[^\s-])/y;
const opening = /\\{0,3}["'`]/y;
const bareValue = /[^\s"'`,;&<>)}\]\\|]+/y;
/** Environment variables and flags end at a space: their values may hold commas and semicolons. */
const wordValue = /[^\s"'`\\]+/y;
const proseAfterFlag =
  /^(?:flags?|is|are|was|must|to|and|or|option|argument|parameter|not|requires|cannot|for|in|with|value|has|instead)$/;

const matchAt = (regex: RegExp, text: string, index: number): string | null => {
  regex.lastIndex = index;
  return regex.exec(text)?.[0] ?? null;
};

interface Stretch {
  start: number;
  end: number;
}

interface Value extends Stretch {
  quoted: boolean;
}

/** Up to the same quote, written with the same number of backslashes, or the end of the line. */
const quotedEnd = (text: string, start: number, quote: string): number => {
  for (let index = start; index < text.length; index++) {
    if (text[index] === '\n') return index;
    if (text.startsWith(quote, index) && text[index - 1] !== '\\') return index;
  }
  return text.length;
};

const valueAt = (text: string, index: number, word: boolean): Value | null => {
  const quote = matchAt(opening, text, index);
  if (quote !== null) {
    const start = index + quote.length;
    return { start, end: quotedEnd(text, start, quote), quoted: true };
  }
  const bare = matchAt(word ? wordValue : bareValue, text, index);
  return bare === null ? null : { start: index, end: index + bare.length, quoted: false };
};

/** `failed to refresh token: AADSTS7000222: The provided …`, `ORA-01017:`: a code with its own colon opens a sentence. */
const errorCode = /^[A-Z]{2,10}[-_]?\d{3,8}:$/;

/** Prose says "invalid token: expired"; after a colon, an unquoted value must fill its line or look random. */
const isProse = (text: string, name: Stretch, valueStart: number): boolean => {
  const before = text.slice(Math.max(0, name.start - maxProse), name.start);
  const after = text.slice(valueStart, valueStart + maxProse).split('\n')[0] ?? '';
  const value = after.match(/^[^\s"'`,;&<>)}\]\\|]*/)?.[0] ?? '';
  const startsLine =
    /(?:^|\n)[ \t]*(?:-[ \t]+)?["']?$/.test(before) && (before.includes('\n') || name.start < maxProse);
  if (startsLine && /^\s*(?:#.*)?$/.test(after.slice(value.length))) return false;
  if (errorCode.test(value)) return true;
  return value.length < 6 || !/\d/.test(value) || /^\d{1,2}:\d|^\d+(?:\.\d+)?(?:ms|s|m|h|d)?$/.test(value);
};

const nameAround = (text: string, start: number, end: number): Stretch => {
  let from = start;
  let to = end;
  while (from > 0 && start - from < maxName && nameCharacter.test(text[from - 1]!)) from--;
  while (to < text.length && to - end < maxName && nameCharacter.test(text[to]!)) to++;
  return { start: from, end: to };
};

const valueBeside = (text: string, name: Stretch): Value | null => {
  const word = text.slice(name.start, name.end);
  const isFlag = word.startsWith('-');
  const isVariable = /^[A-Z][A-Z0-9_]+$/.test(word);
  const pair = matchAt(pairSeparator, text, name.end);
  if (pair !== null) return valueAt(text, name.end + pair.length, false);
  const between = matchAt(separator, text, name.end);
  if (between !== null) {
    const start = name.end + between.length;
    const isQuoted = matchAt(opening, text, start) !== null;
    if (between.includes(':') && !isQuoted && isProse(text, name, start)) return null;
    return valueAt(text, start, isFlag || (isVariable && between === '='));
  }
  const gap = isFlag ? matchAt(flagSeparator, text, name.end) : null;
  const value = gap === null ? null : valueAt(text, name.end + gap.length, true);
  return value && proseAfterFlag.test(text.slice(value.start, value.end)) ? null : value;
};

export const namedValueSpans = (text: string): Span[] => {
  const spans: Span[] = [];
  const words = new RegExp(secretWords);
  for (let match = words.exec(text); match; match = words.exec(text)) {
    const name = nameAround(text, match.index, match.index + match[0].length);
    const called = text.slice(name.start, name.end).replace(/^-+/, '');
    words.lastIndex = name.end;
    if (!isSecretName(called)) continue;
    const value = valueBeside(text, name);
    if (!value) continue;
    words.lastIndex = Math.max(name.end, value.end);
    if (!isSecretValue(called, text.slice(value.start, value.end))) continue;
    spans.push({ start: value.start, end: value.end, kind: kindOfName(called) });
  }
  return spans;
};
