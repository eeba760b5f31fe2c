import { cost, truncate } from '../legible.ts';

/** Where a text may be parted, best first: before a section's heading, between paragraphs, between lines, after a sentence, between words. */
const boundaries = [/\n(?=## )/, /\n(?=\n)/, /\n/, /(?<=[.!?;] )/, /(?<= )/];

/**
 * A text in pieces that cost at most `limit` each, parted at the best boundary that serves: a line is broken only where
 * it is longer than a piece, a word only where nothing else is left. Joined with what parted them they are the text.
 */
export const split = (text: string, limit: number, from = 0): string[] => {
  if (cost(text) <= limit) return text ? [text] : [];
  const boundary = boundaries[from];
  if (!boundary) return chunks(text, limit);
  const glue = from < 3 ? '\n' : '';
  const pieces: string[] = [];
  for (const part of text.split(boundary)) {
    const last = pieces.at(-1);
    if (last !== undefined && cost(last) + cost(glue) + cost(part) <= limit)
      pieces[pieces.length - 1] = last + glue + part;
    else pieces.push(...split(part, limit, from + 1));
  }
  return pieces;
};

const chunks = (text: string, limit: number): string[] => {
  const pieces: string[] = [];
  for (let rest = text; rest; rest = rest.slice(pieces.at(-1)!.length)) pieces.push(truncate(rest, limit).text);
  return pieces;
};
