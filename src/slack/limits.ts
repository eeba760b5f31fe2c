import type { KnownBlock, RichTextBlock, RichTextBlockElement } from '@slack/types';
import { codePoints, cost } from './legible.ts';

/**
 * Block Kit limits, in code points (docs.slack.dev/reference/block-kit). `message` is the undocumented
 * `msg_blocks_too_long`: some 9,600 characters were seen accepted and 11,300 refused. `text` is chat.update's hard limit;
 * longer texts without blocks are split by chat.postMessage into several messages.
 */
export const limits = {
  blocks: 50,
  header: 150,
  sectionText: 3000,
  textObject: 3000,
  sectionFields: 10,
  sectionField: 2000,
  contextElements: 10,
  actionElements: 25,
  buttonText: 75,
  buttonValue: 2000,
  url: 3000,
  id: 255,
  text: 4000,
  message: 8000,
} as const;

export type Block = KnownBlock;

type RichElement = RichTextBlockElement | RichTextBlockElement['elements'][number];

const richTexts = (element: RichElement): string[] => {
  if ('elements' in element) return element.elements.flatMap((child) => richTexts(child as RichElement));
  if (element.type === 'text') return [element.text];
  if (element.type === 'link') return [element.text ?? '', element.url];
  if (element.type === 'date') return [element.format, element.fallback ?? ''];
  return [];
};

const richBlockTexts = (block: RichTextBlock): string[] => block.elements.flatMap((element) => richTexts(element));

/** All texts a block shows; link addresses count too. */
const textsOf = (block: Block): string[] => {
  switch (block.type) {
    case 'header':
      return [block.text.text];
    case 'section':
      return [...(block.text ? [block.text.text] : []), ...(block.fields ?? []).map((field) => field.text)];
    case 'context':
      return block.elements.flatMap((element) => ('text' in element ? [element.text] : []));
    case 'actions':
      return block.elements.flatMap((element) => (element.type === 'button' ? [element.text.text] : []));
    case 'rich_text':
      return richBlockTexts(block);
    default:
      return [];
  }
};

export const costOf = (block: Block): number => textsOf(block).reduce((sum, text) => sum + cost(text), 0);

const bounded = (what: string, text: string, limit: number): string[] => {
  const length = codePoints(text);
  if (length === 0) return [`${what} is empty`];
  return length > limit ? [`${what} has ${length} characters, at most ${limit}`] : [];
};

const count = (what: string, length: number, limit: number): string[] =>
  length < 1 || length > limit ? [`${what}: ${length}, allowed 1 to ${limit}`] : [];

const actionProblems = (block: Block & { type: 'actions' }): string[] => [
  ...count('actions elements', block.elements.length, limits.actionElements),
  ...block.elements.flatMap((element) =>
    element.type === 'button'
      ? [
          ...bounded('button text', element.text.text, limits.buttonText),
          ...(element.value === undefined ? [] : bounded('button value', element.value, limits.buttonValue)),
          ...(element.url === undefined ? [] : bounded('button url', element.url, limits.url)),
          ...(element.action_id === undefined ? [] : bounded('action_id', element.action_id, limits.id)),
        ]
      : [],
  ),
];

const richProblems = (block: RichTextBlock): string[] => [
  ...(block.elements.length === 0 ? ['rich_text has no elements'] : []),
  ...richBlockTexts(block).flatMap((text) =>
    codePoints(text) > limits.textObject ? bounded('rich_text text', text, limits.textObject) : [],
  ),
];

const blockProblems = (block: Block): string[] => {
  switch (block.type) {
    case 'divider':
      return [];
    case 'header':
      return bounded('header', block.text.text, limits.header);
    case 'section':
      return [
        ...(block.text || block.fields ? [] : ['section has neither text nor fields']),
        ...(block.text ? bounded('section text', block.text.text, limits.sectionText) : []),
        ...(block.fields ? count('section fields', block.fields.length, limits.sectionFields) : []),
        ...(block.fields ?? []).flatMap((field) => bounded('section field', field.text, limits.sectionField)),
      ];
    case 'context':
      return [
        ...count('context elements', block.elements.length, limits.contextElements),
        ...textsOf(block).flatMap((text) => bounded('context text', text, limits.textObject)),
      ];
    case 'actions':
      return actionProblems(block);
    case 'rich_text':
      return richProblems(block);
    default:
      return [`${block.type} is not a block Faultline posts`];
  }
};

/** Everything Slack would refuse or cut about a message; empty when it fits. */
export const limitProblems = (blocks: readonly Block[], text: string): string[] => {
  const total = blocks.reduce((sum, block) => sum + costOf(block), cost(text));
  return [
    ...bounded('text', text, limits.text),
    ...(blocks.length > limits.blocks ? [`${blocks.length} blocks, at most ${limits.blocks}`] : []),
    ...(total > limits.message ? [`${total} characters in all, at most ${limits.message}`] : []),
    ...blocks.flatMap((block, index) => blockProblems(block).map((problem) => `blocks[${index}]: ${problem}`)),
  ];
};

/** Throws on a message Slack would refuse: a bug of the rendering. */
export const assertFits = (blocks: readonly Block[], text: string): void => {
  const problems = limitProblems(blocks, text);
  if (problems.length > 0) throw new Error(`The message exceeds Slack's limits: ${problems.join('; ')}`);
};

/**
 * The parts that fit, in order, then `tail`. Parts that do not fit are counted and replaced by `more(count)`, the line
 * that says where they are. `spent` is what the message's top-level text costs.
 */
export const fitParts = (
  parts: readonly Block[][],
  tail: readonly Block[],
  more: (parts: number) => Block,
  spent: number,
): Block[] => {
  const sum = (blocks: readonly Block[]) => blocks.reduce((total, block) => total + costOf(block), 0);
  const everything = [...parts.flat(), ...tail];
  if (everything.length <= limits.blocks && sum(everything) + spent <= limits.message) return everything;
  let characters = limits.message - spent - sum(tail) - costOf(more(parts.length));
  let slots = limits.blocks - tail.length - 1;
  const kept: Block[] = [];
  let dropped = 0;
  for (const part of parts) {
    const need = sum(part);
    if (need > characters || part.length > slots) {
      dropped += 1;
      continue;
    }
    kept.push(...part);
    characters -= need;
    slots -= part.length;
  }
  return [...kept, more(dropped), ...tail];
};
