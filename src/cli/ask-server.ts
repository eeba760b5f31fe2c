import type { z } from 'zod';
import { OperatorError } from './operator-error.ts';
import { readConfig } from './setup.ts';

/** A command waits for the database at most; nothing it asks for takes a triage's time. */
const patienceMs = 30_000;

interface Asked<T> {
  /** Unset: the server of this machine, at the configured port. */
  server: string | undefined;
  path: string;
  /** With a body it is a POST. */
  body?: string;
  shape: z.ZodType<T>;
  timeoutMs?: number;
}

/** Asks a running server. Throws OperatorError where it is away, silent, refuses, or is no Faultline. */
export const askServer = async <T>({ server, path, body, shape, timeoutMs = patienceMs }: Asked<T>): Promise<T> => {
  const base = server ?? `http://localhost:${readConfig().server.port}`;
  if (!URL.canParse(base)) throw new OperatorError(`${base} is no address: write http://host:port`);
  const request = body === undefined ? {} : { method: 'POST', body };
  const unanswered = (error: Error): never => {
    throw new OperatorError(
      error.name === 'TimeoutError'
        ? `${base} did not answer within ${timeoutMs / 1000} s: see the log of the server`
        : `no Faultline answers at ${base}: start it with \`faultline serve\`, or name it with --server`,
    );
  };
  const response = await fetch(new URL(path, base), {
    ...request,
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(unanswered);
  const text = await response.text().catch(unanswered);
  const answer = parsed(text);
  if (!response.ok) {
    const { error, fix } = (answer ?? {}) as { error?: string; fix?: string };
    throw new OperatorError(`${base} refused: ${error ?? response.status}${fix ? `; ${fix}` : ''}`);
  }
  const known = shape.safeParse(answer);
  if (!known.success)
    throw new OperatorError(`what answers at ${base} is no Faultline: name it with --server http://host:port`);
  return known.data;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
