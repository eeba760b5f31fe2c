/** Controls, bidirectional overrides, zero-width and tag characters: they hide or reorder text and say nothing. */
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const ansi = /\u001b\[[\d;?]*[A-Za-z]/g;

/** Text from outside as one line in which every character can be seen. */
export const legibleLine = (value: unknown, maxLength = 600): string => {
  const line = legibleLines(value, maxLength * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).trimEnd()}…` : line;
};

/** The same with its line breaks. */
export const legibleLines = (value: unknown, maxLength = 4_000): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return text.slice(0, maxLength).toWellFormed().replace(ansi, '').replace(/\r\n?/g, '\n').replace(invisible, '');
};
