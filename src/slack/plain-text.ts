import type { RichTextBlock } from '@slack/types';
import type { ThreadMessage } from '../domain/message.ts';
import { codePoints, cost, escapeMrkdwn, truncate, withoutMarkup } from './legible.ts';
import { type Block, limits } from './limits.ts';

type RichPart = RichTextBlock['elements'][number] | RichTextBlock['elements'][number]['elements'][number];

const richText = (part: RichPart): string => {
  switch (part.type) {
    case 'rich_text_list':
      return part.elements.map((item) => `• ${richText(item)}`).join('\n');
    case 'rich_text_section':
    case 'rich_text_preformatted':
    case 'rich_text_quote':
      return part.elements.map((child) => richText(child)).join('');
    case 'text':
      return part.text;
    case 'link':
      return `${part.text ?? ''} ${part.url}`.trim();
    case 'date':
      return part.fallback ?? '';
    default:
      return '';
  }
};

const blockText = (block: Block): string => {
  switch (block.type) {
    case 'header':
      return block.text.text;
    case 'rich_text':
      return block.elements.map((element) => richText(element)).join('\n');
    default:
      return '';
  }
};

/** Sections hold mrkdwn of our own making, such as the owner's mention; it stays. */
const ownMarkup = (block: Block): string => (block.type === 'section' && block.text ? block.text.text : '');

/**
 * The words of a message whose blocks Slack refused, within the 4,000 characters that are neither split nor refused.
 * `rest` says where to read what is left off.
 */
export const asPlainText = (message: ThreadMessage, rest: string): string => {
  const blocks = message.blocks as Block[];
  const words = blocks.map(blockText).filter(Boolean).join('\n');
  if (!words) return message.text;
  const lead = blocks
    .map(ownMarkup)
    .filter(Boolean)
    .map((markup) => `${markup}\n`)
    .join('');
  const tail = escapeMrkdwn(`\n${rest}`);
  const { text } = truncate(withoutMarkup(words), limits.text - cost(tail) - codePoints(lead));
  return `${lead}${escapeMrkdwn(text)}${tail}`;
};
