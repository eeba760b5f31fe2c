export interface DemoResult {
  incident: string;
  owner: string;
  confidence: string;
  cause: string;
  /** Milliseconds from the webhook; null where it never came. */
  firstEvidenceMs: number | null;
  verdictMs: number | null;
  right: boolean;
}

const seconds = (ms: number | null): string => (ms === null ? 'never' : `${(ms / 1000).toFixed(1)} s`);

/** Breaks a sentence into lines of at most `width` characters, at spaces. */
const wrap = (text: string, width: number): string[] =>
  text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 1 <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
    return lines;
  }, []);

/** The closing table; the cause takes what the terminal's width leaves. */
export const demoTable = (results: DemoResult[], columns: number): string => {
  const header = ['incident', 'owner', 'confidence', 'evidence', 'verdict', 'cause'];
  const rows = results.map((result) => [
    `${result.right ? '✓' : '✗'} ${result.incident}`,
    result.owner,
    result.confidence,
    seconds(result.firstEvidenceMs),
    seconds(result.verdictMs),
    result.cause,
  ]);
  const widths = header
    .slice(0, -1)
    .map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const left = widths.reduce((sum, width) => sum + width + 2, 0);
  const causeWidth = Math.max(40, columns - left);
  const lineOf = (row: string[]): string => {
    const [first = '', ...more] = wrap(row.at(-1)!, causeWidth);
    const cells = row.slice(0, -1).map((cell, column) => cell.padEnd(widths[column]!));
    return [[...cells, first].join('  '), ...more.map((line) => ' '.repeat(left) + line)].join('\n');
  };
  return [lineOf(header), ...rows.map(lineOf)].join('\n');
};
