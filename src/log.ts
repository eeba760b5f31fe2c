import pino, { type Logger } from 'pino';
import { redact } from './redaction/redact.ts';
import { redactText } from './redaction/text.ts';

export type { Logger };

/** JSON lines on standard error. Everything that is logged is redacted first, messages and fields alike. */
export const createLog = (level: string): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        // A value without a secret's shape may become one by what the message says around it.
        streamWrite: redactText,
        logMethod(args, method) {
          method.apply(this, args.map((argument) => redact(plain(argument))) as Parameters<typeof method>);
        },
      },
    },
    pino.destination(2),
  );

/** Errors lose their own properties when they are copied: what a line shows of one is its message and stack. */
const plain = (value: unknown): unknown =>
  value instanceof Error ? { err: { type: value.name, message: value.message, stack: value.stack } } : value;
