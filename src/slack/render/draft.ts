import type { ContextBlock, RichTextBlock, RichTextElement, RichTextSection } from '@slack/types';
import { describeSubject } from '../../domain/alert.ts';
import type { ThreadMessage } from '../../domain/message.ts';
import { isCommand, shellWord } from '../../domain/shell.ts';
import { inLanguage, type Text } from '../../domain/text.ts';
import type { IncidentView } from '../../domain/view.ts';
import { cost, escapeMrkdwn, legible, legibleLines, truncate, webAddress, withoutMarkup } from '../legible.ts';
import { assertFits, type Block, fitParts } from '../limits.ts';
import type { Messages } from '../messages.ts';

/** Top-level text: one line for a lock screen, well below Slack's 4,000. */
const lockScreenLimit = 600;

/**
 * One message being written. All data goes into rich_text leaves, which Slack shows literally; what is too long is
 * shortened with a mark, and the message then ends with the line that says where the whole is.
 */
export class Draft {
  readonly view: IncidentView;
  readonly #messages: Messages;
  #cut = 0;

  constructor(view: IncidentView, messages: Messages) {
    this.view = view;
    this.#messages = messages;
  }

  say(key: string, values?: Record<string, string | number>): string {
    return this.#messages.say(key, values);
  }

  sentence(text: Text): string {
    return inLanguage(text, this.#messages.language);
  }

  /** One legible line that costs at most `limit` characters. */
  line(text: string, limit = 600): string {
    return this.#shorten(legible(text), limit);
  }

  /** Legible lines, for preformatted text. */
  lines(text: string, limit: number): string {
    return this.#shorten(legibleLines(text).trim(), limit);
  }

  #shorten(text: string, limit: number): string {
    const { text: kept, cut } = truncate(text, limit);
    if (cut === 0) return text;
    this.#cut += cut;
    return `${kept}${this.say('more.cut', { count: cut })}`;
  }

  /** Seconds since 1970 and the words for clients that cannot format them; null for what is not a time. */
  time(iso: string): { seconds: number; format: string; fallback: string } | null {
    const at = new Date(iso);
    if (Number.isNaN(at.getTime())) return null;
    const [date = '', clock = ''] = at.toISOString().split('T');
    const [year = '', month = '', day = ''] = date.split('-');
    return {
      seconds: Math.floor(at.getTime() / 1000),
      format: this.say('date.format'),
      fallback: this.say('date.fallback', { year, month, day, time: clock.slice(0, 8) }),
    };
  }

  date(iso: string): RichTextElement[] {
    const time = this.time(iso);
    return time
      ? [{ type: 'date', timestamp: time.seconds, format: time.format, fallback: time.fallback }]
      : plain(this.line(iso));
  }

  /** The same time as a token of mrkdwn. */
  dateToken(iso: string): string {
    const time = this.time(iso);
    return time
      ? `<!date^${time.seconds}^${time.format}|${time.fallback}>`
      : escapeMrkdwn(withoutMarkup(this.line(iso)));
  }

  /** Where the whole incident can be read: the page, or the command that triages the subject again. */
  elsewhere(): RichTextElement[] {
    const page = this.view.pageUrl && webAddress(this.view.pageUrl);
    if (page) return [...plain(`${this.say('more.page')} `), link(page, this.say('link.page'))];
    return [...plain(`${this.say('more.command')} `), ...code(this.line(triageCommand(this.view), 300))];
  }

  /** Checks and closes the message: parts that fit, then `tail`, and never a silent cut. */
  finish(slot: string, text: string, parts: Block[][], tail: Block[] = []): ThreadMessage {
    const topLevel = this.#topLevel(text);
    const shortened: Block[] =
      this.#cut === 0
        ? []
        : [rich([section(...plain(`${this.say('more.characters', { count: this.#cut })}. `), ...this.elsewhere())])];
    const more = (count: number) =>
      rich([section(...plain(`${this.say('more.parts', { count })}. `), ...this.elsewhere())]);
    const blocks = fitParts(parts, [...shortened, ...tail], more, cost(topLevel));
    assertFits(blocks, topLevel);
    return { slot, text: topLevel, blocks };
  }

  #topLevel(text: string): string {
    const { text: kept, cut } = truncate(withoutMarkup(legible(text)), lockScreenLimit);
    return escapeMrkdwn(cut === 0 ? kept : `${kept}…`);
  }
}

/** `faultline triage` for the incident's subject, quoted for a shell. */
const triageCommand = ({ incident: { cluster, subject } }: IncidentView): string =>
  [
    'faultline triage --context',
    shellWord(cluster),
    shellWord(subject.name ? `${subject.kind}/${subject.name}` : subject.kind),
    ...(subject.namespace ? ['-n', shellWord(subject.namespace)] : []),
  ].join(' ');

export const subjectOf = (view: IncidentView): string => describeSubject(view.incident.subject);

// An empty text leaf makes Slack refuse the whole message.
export const plain = (text: string): RichTextElement[] => (text ? [{ type: 'text', text }] : []);
export const bold = (text: string): RichTextElement[] => (text ? [{ type: 'text', text, style: { bold: true } }] : []);
export const code = (text: string): RichTextElement[] => (text ? [{ type: 'text', text, style: { code: true } }] : []);

/** A sentence of ours: what it writes between backticks is code, which a person copies. */
export const prose = (text: string): RichTextElement[] =>
  text.split(/`([^`]+)`/).flatMap((piece, index) => (index % 2 === 1 ? code(piece) : plain(piece)));

/** What makes a read possible: a sentence that marks its own code, or a command. */
export const fix = (text: string): RichTextElement[] => (isCommand(text) ? code(text) : prose(text));

export const link = (url: string, text: string): RichTextElement => ({ type: 'link', url, text });

const section = (...elements: RichTextElement[]): RichTextSection => ({ type: 'rich_text_section', elements });

/** `Label: value`. */
export const labelled = (label: string, ...value: RichTextElement[]): RichTextElement[] => [
  ...bold(`${label}: `),
  ...value,
];

/** One section, a line per entry. Sections of their own would leave the line breaks to the client. */
export const paragraph = (...lines: RichTextElement[][]): RichTextSection =>
  section(
    ...lines.filter((line) => line.length > 0).flatMap((line, index) => (index ? [...plain('\n'), ...line] : line)),
  );

export const rich = (elements: RichTextBlock['elements']): RichTextBlock => ({ type: 'rich_text', elements });

export const bullets = (
  items: RichTextElement[][],
  style: 'bullet' | 'ordered' = 'bullet',
): RichTextBlock['elements'] =>
  items.length > 0 ? [{ type: 'rich_text_list', style, elements: items.map((item) => section(...item)) }] : [];

export const preformatted = (text: string): RichTextBlock['elements'] =>
  text ? [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }] : [];

/** A small grey line of mrkdwn that we built ourselves; data in it must be escaped already. */
export const note = (text: string): ContextBlock => ({
  type: 'context',
  elements: [{ type: 'mrkdwn', text, verbatim: true }],
});
