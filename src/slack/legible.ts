/** Text from outside, made safe to show: what a reader sees is what is there, and none of it acts. */

const ansiColour = /\u001b\[[0-9;]*m/g;
// C0 (but for tab and newline) and C1 controls, bidi controls, zero-width and other invisible characters, tags.
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const stackedMarks = /(\p{M}{3})\p{M}+/gu;

const codePoint = (character: string): string =>
  `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Lines kept; control, bidi and zero-width characters become visible marks such as `⟨U+202E⟩`. */
export const legibleLines = (text: string): string =>
  text
    .toWellFormed()
    .replace(ansiColour, '')
    .replace(/\r\n?/g, '\n')
    .replace(invisible, codePoint)
    .replace(stackedMarks, '$1');

/** As `legibleLines`, on one line. */
export const legible = (text: string): string => legibleLines(text).replace(/\s+/g, ' ').trim();

/** Slack's three escapes, in the order its documentation gives. Apply once, after truncating. */
export const escapeMrkdwn = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Data for a place where Slack parses mrkdwn and has no escape for it: look-alikes for `*`, `~`, backtick, `_` outside
 * words and `:emoji:`, and addresses that no client turns into a link.
 */
export const withoutMarkup = (text: string): string =>
  text
    .replaceAll('*', '∗')
    .replaceAll('~', '∼')
    .replaceAll('`', 'ˋ')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, 'ˍ')
    .replace(/:(?=[\w+'-]+:)/g, '∶')
    .replaceAll('://', ':⧸⧸')
    .replace(/@(?=here|channel|everyone)/gi, '＠');

/** Length as Slack counts it: Unicode code points. */
export const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Characters of a text as Slack's message budget counts them: code points after escaping. */
export const cost = (text: string): number => codePoints(escapeMrkdwn(text));

/** As much of the text as costs at most `limit`; `cut` is how many characters were left off. Splits no surrogate pair. */
export const truncate = (text: string, limit: number): { text: string; cut: number } => {
  if (text.length * 5 <= limit || cost(text) <= limit) return { text, cut: 0 };
  let spent = 0;
  let end = 0;
  for (const character of text) {
    spent += cost(character);
    if (spent > limit) break;
    end += character.length;
  }
  return { text: text.slice(0, end), cut: codePoints(text.slice(end)) };
};

/** An http or https address safe in a link element and in `<url|label>`, or null. Slack allows 3,000 characters. */
export const webAddress = (raw: string): string | null => {
  let url: URL;
  try {
    url = new URL(raw.trim());
  } catch {
    return null;
  }
  // user:password@host hides the real host from readers, and may be a credential.
  if (!['http:', 'https:'].includes(url.protocol) || url.username || url.password) return null;
  const address = url.href.replace(/[|<>"`\s]/g, encodeURIComponent);
  return address.length <= 3000 ? address : null;
};
