import type { ThreadMessage } from '../../src/domain/message.ts';

/** All leaves of a message's blocks, in order. */
export const leaves = (value: unknown): any[] => {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (value === null || typeof value !== 'object') return [];
  const record = value as Record<string, any>;
  if (typeof record.text === 'string' || ['date', 'user', 'link', 'usergroup'].includes(record.type)) return [record];
  return Object.values(record).flatMap(leaves);
};

/** The words a person reads in a message's blocks; dates as their UTC fallback. */
export const wordsOf = (message: ThreadMessage): string =>
  leaves(message.blocks)
    .map((leaf) => leaf.text ?? leaf.fallback ?? leaf.user_id ?? '')
    .join(' ')
    .replace(/\s+/g, ' ');

export const blocksOf = (message: ThreadMessage, type: string): any[] =>
  (message.blocks as any[]).filter((block) => block.type === type);
