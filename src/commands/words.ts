/** A command as a person typed it. */
export interface Words {
  /** The words that are no options, quotes taken off. */
  words: string[];
  options: Record<string, string>;
}

const token = /"([^"]*)"|“([^”]*)”|'([^']*)'|(\S+)/g;

/**
 * Splits a command as a shell would: words, `"quoted words"` (also the quotes that phones type), `-n value`,
 * `--name value` and `--name=value`. An option without a value is `true`.
 */
export const wordsOf = (text: string): Words => {
  const tokens = [...text.matchAll(token)].map(([, double, curly, single, bare]) => ({
    text: double ?? curly ?? single ?? bare ?? '',
    bare: bare !== undefined,
  }));
  const result: Words = { words: [], options: {} };
  for (let at = 0; at < tokens.length; at += 1) {
    const { text: word, bare } = tokens[at]!;
    // Phones and Slack turn -- into a dash.
    const option = bare ? /^(?:--|—|-)([a-z][\w-]*)(?:=(.*))?$/.exec(word) : null;
    if (!option) {
      result.words.push(word);
      continue;
    }
    const next = tokens[at + 1];
    const takesNext = option[2] === undefined && next !== undefined && !(next.bare && /^[-—]/.test(next.text));
    result.options[option[1]!] = option[2] ?? (takesNext ? next.text : 'true');
    if (takesNext) at += 1;
  }
  return result;
};

/** Smallest number of letters to add, drop or change to make one word of the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, against] of [...other].entries())
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === against ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
};

/** The candidate that was most likely meant; null where none is near. */
export const nearest = (word: string, candidates: string[]): string | null => {
  const [best] = candidates
    .map((candidate) => ({ candidate, away: distance(word.toLowerCase().slice(0, 40), candidate) }))
    .sort((a, b) => a.away - b.away);
  return best && best.away <= Math.max(1, Math.floor(best.candidate.length / 2)) ? best.candidate : null;
};
