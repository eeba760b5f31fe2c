import { type Html, html } from './html.ts';

/** A time, as ISO 8601 or milliseconds since 1970, with its date and zone: what was read today of what began yesterday is not told by a clock alone. */
export const timeOf = (isoOrMs: string | number): Html => {
  const at = new Date(isoOrMs);
  if (Number.isNaN(at.getTime())) return html`${isoOrMs}`;
  const exact = at.toISOString();
  return html`<time datetime="${exact}">${exact.slice(0, 10)} ${exact.slice(11, 19)} UTC</time>`;
};
