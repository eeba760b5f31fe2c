/** Markup that was built here and may be put into a page as it is. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
  toString(): string {
    return this.markup;
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);

type Value = Html | string | number | null | undefined | false | Value[];

const render = (value: Value): string => {
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(render).join('');
  return value === null || value === undefined || value === false ? '' : escapeHtml(String(value));
};

/** Template tag: every value is escaped unless it is itself Html. */
export const html = (strings: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(strings.reduce((page, part, index) => page + render(values[index - 1]) + part));

/** Only http and https may become a link; anything else stays text. */
export const webUrl = (url: string): string | null => (/^https?:\/\//i.test(url) && URL.canParse(url) ? url : null);
