/** Longest log text of one read; a crash's last words are in the last few hundred lines. */
export const maxLogBytes = 1024 * 1024;

/** A longer line is data, not words: what rules look for stands at its beginning. */
const maxLineChars = 4096;

/** At a space where there is one near: half a secret has no shape by which it could be redacted. */
const cut = (line: string): string => {
  if (line.length <= maxLineChars) return line;
  const end = Math.max(line.lastIndexOf(' ', maxLineChars), maxLineChars - 512);
  return `${line.slice(0, end).toWellFormed()}…`;
};

/**
 * The last lines of a log, cut to bytes at its beginning. Complete only if fewer lines than the bound came back:
 * a tail that fills its bound may have had more above it.
 */
export function tailOf(text: string, tailLines: number, limitBytes: number): { value: string; complete: boolean } {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const tail = lines.slice(-tailLines).map(cut);
  const value = tail.length === 0 ? '' : `${tail.join('\n')}\n`;
  const bytes = Buffer.from(value);
  if (bytes.length <= limitBytes) return { value, complete: lines.length < tailLines };
  return { value: bytes.subarray(bytes.length - limitBytes).toString(), complete: false };
}
