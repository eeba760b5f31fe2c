import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { Span } from './span.ts';

type Rule = (typeof rules)[number];
type RuleContext = Parameters<Rule['create']>[0];

/**
 * Secretlint's recommended rules (GitHub, GitLab, Slack, npm, Stripe, SendGrid, Vault and twenty more), run directly:
 * `@secretlint/core` is asynchronous only for reading files and a log line cannot wait. The rules themselves are
 * synchronous for text, their patterns bounded.
 */
let found: Span[] = [];

const host = (rule: Rule): ((source: unknown) => unknown) => {
  const kind = rule.meta.id.replace('@secretlint/secretlint-rule-', '');
  const context = {
    sharedOptions: {},
    createTranslator: () => (messageId: string) => ({ messageId, message: messageId, data: {} }),
    report: ({ range: [start, end] }: { range: readonly [number, number] }) => found.push({ start, end, kind }),
    ignore: () => {},
  };
  const handler = rule.create(context as unknown as RuleContext, {});
  return (source) => handler.file?.(source as Parameters<NonNullable<typeof handler.file>>[0]);
};

/** A "secretlint-disable" comment in a log must not switch redaction off. */
const scanners = rules.filter(({ meta }) => !meta.id.endsWith('filter-comments')).map(host);

/** No rule matches less: the shortest is a connection string with a password. */
const shortestSecret = 16;

export const secretlintSpans = (text: string): Span[] => {
  if (text.length < shortestSecret) return [];
  found = [];
  const source = { content: text, ext: '.txt', filePath: 'text.txt', contentType: 'text', hasBOM: false };
  for (const scan of scanners) scan(source);
  return found;
};
