import { namedValueSpans } from './named-values.ts';
import { patternSpans } from './patterns.ts';
import { secretManifestSpans } from './secret-manifest.ts';
import { secretlintSpans } from './secretlint.ts';
import { existingTag, replaceSpans, type Span } from './span.ts';

/** Rules that report a whole address, where ours find the password in it. */
const wholeAddress = new Set(['database-connection-string', 'basicauth']);

/** The one list of detectors, for log lines as for everything stored. */
const spansOf = (text: string): Span[] => {
  const own = [...patternSpans(text), ...namedValueSpans(text), ...secretManifestSpans(text)];
  const isNarrowed = (span: Span): boolean =>
    wholeAddress.has(span.kind) && own.some(({ start, end }) => start < span.end && end > span.start);
  return [...own, ...secretlintSpans(text).filter((span) => !isNarrowed(span))];
};

/**
 * The text with every secret replaced by `[redacted:<kind>]`. Synchronous, linear in the length, idempotent: the one
 * path for log lines, messages, pages and, through `redact`, everything stored.
 */
export const redactText = (text: string): string =>
  text
    .split(existingTag)
    .map((part, index) => (index % 2 === 1 ? part : replaceSpans(part, spansOf(part))))
    .join('');

/**
 * The texts in which a detector sees something. Objects hold many short texts, and fifty patterns cost more per text
 * than per character: they run once over all texts, a line each, and only the suspects are looked at alone.
 */
export const suspectsAmong = (texts: Set<string>): Set<string> => {
  const ordered = [...texts];
  const spans = spansOf(ordered.join('\n')).sort((a, b) => a.start - b.start);
  const suspects = new Set<string>();
  let start = 0;
  let next = 0;
  let reach = 0;
  for (const text of ordered) {
    const end = start + text.length;
    for (; next < spans.length && spans[next]!.start <= end; next++) reach = Math.max(reach, spans[next]!.end);
    if (reach > start) suspects.add(text);
    start = end + 1;
  }
  return suspects;
};
