import type { Span } from './span.ts';

const manifest = /^[ \t]{0,16}kind:[ \t]{0,4}["']?Secret["']?[ \t]*$/gm;
const block = /^([ \t]{0,16})(?:data|stringData):[ \t]*$/;
const entry = /^([ \t]*)([\w./-]{1,253}):[ \t]*(\S.*)?$/;

/** A line with its place in the text. */
function* linesOf(text: string, start: number, end: number): Generator<{ line: string; at: number }> {
  for (let at = start; at < end; ) {
    const next = text.indexOf('\n', at);
    const stop = next === -1 || next > end ? end : next;
    yield { line: text.slice(at, stop), at };
    at = stop + 1;
  }
}

/** Values under `data:` and `stringData:` of a Secret manifest pasted as YAML into a text, block scalars included. */
export const secretManifestSpans = (text: string): Span[] => {
  if (!text.includes('Secret') || text.search(manifest) === -1) return [];
  const spans: Span[] = [];
  for (const document of documentsOf(text)) {
    if (text.slice(document.start, document.end).search(manifest) === -1) continue;
    let indent: number | null = null;
    for (const { line, at } of linesOf(text, document.start, document.end)) {
      const opened = line.match(block);
      const width = line.length - line.trimStart().length;
      if (opened) indent = opened[1]!.length;
      else if (indent !== null && line.trim() !== '' && width <= indent) indent = null;
      else if (indent !== null && line.trim() !== '') spans.push(...entrySpan(line, at));
    }
  }
  return spans;
};

const entrySpan = (line: string, at: number): Span[] => {
  const pair = line.match(entry);
  const value = pair ? (pair[3] ?? '') : line.trim();
  if (value === '' || /^[|>][+-]?\d?$/.test(value)) return [];
  const start = at + line.lastIndexOf(value);
  return [{ start, end: start + value.length, kind: 'secret-data' }];
};

function* documentsOf(text: string): Generator<{ start: number; end: number }> {
  let start = 0;
  for (const border of text.matchAll(/^---.*$/gm)) {
    yield { start, end: border.index };
    start = border.index + border[0].length;
  }
  yield { start, end: text.length };
}
