/** A stretch of text that is a secret, `[start, end)` in UTF-16 units, and what kind of secret it is. */
export interface Span {
  start: number;
  end: number;
  kind: string;
}

/** Captures, so that a split keeps the tags at the odd places. */
export const existingTag = /(\[redacted:[a-z0-9-]+\])/;

export const tagOf = (kind: string): string => `[redacted:${kind}]`;

export const isTag = (text: string): boolean => /^\[redacted:[a-z0-9-]+\]$/.test(text);

/** Replaces every span by its tag. Overlapping spans become one, named after the first. */
export const replaceSpans = (text: string, spans: Span[]): string => {
  if (spans.length === 0) return text;
  const ordered = spans.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of ordered) {
    const last = merged.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  let position = 0;
  let clean = '';
  for (const { start, end, kind } of merged) {
    clean += text.slice(position, start) + tagOf(kind);
    position = end;
  }
  return clean + text.slice(position);
};
