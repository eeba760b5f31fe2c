import { readFile } from 'node:fs/promises';
import { parsePayload } from './payload.ts';

export interface ReplayOptions {
  /** A saved webhook body. */
  file: string;
  /** Base address of the running server. */
  url: string;
  /** The webhook token's value. */
  token: string;
  /** Longest wait for the answer. */
  timeoutMs?: number;
}

export type ReplayResult =
  | { ok: true; incidents: { incidentId: string; change: string }[]; rejected: string[] }
  | { ok: false; error: string; fix: string };

const failed = (error: string, fix: string): ReplayResult => ({ ok: false, error, fix });

/** What undici hides behind "fetch failed". */
const reasonOf = (error: unknown): string => {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
};

const answerOf = async (response: Response): Promise<ReplayResult> => {
  const body = (await response.json().catch(() => ({}))) as Record<string, any>;
  if (response.ok) return { ok: true, incidents: body.incidents ?? [], rejected: body.rejected ?? [] };
  return failed(
    `answered ${response.status}: ${body.error ?? response.statusText}`,
    body.fix ?? 'see the log of the server',
  );
};

/** Posts a saved body to a running server, as Alertmanager would. Never throws for what went wrong outside. */
export const replay = async ({ file, url, token, timeoutMs = 30_000 }: ReplayOptions): Promise<ReplayResult> => {
  let body: string;
  try {
    body = await readFile(file, 'utf8');
  } catch (error) {
    return failed(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`, 'name a saved webhook body');
  }
  const parsed = parsePayload(body);
  if (!parsed.ok) return failed(`${file}: ${parsed.refusal.error}`, parsed.refusal.fix);
  try {
    const response = await fetch(new URL('/webhooks/alertmanager', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await answerOf(response);
  } catch (error) {
    return failed(
      `${url} does not answer (${reasonOf(error)})`,
      'start the server with `npm start`, or name it with --url',
    );
  }
};
