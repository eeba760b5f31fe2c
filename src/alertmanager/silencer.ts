import { z } from 'zod';
import type { Silence } from '../domain/silence.ts';
import type { SilenceResult, Silencer } from '../incidents/silences.ts';

export interface AlertmanagerAccess {
  /** Base address, e.g. `http://alertmanager.monitoring:9093`; a path prefix is kept. */
  url: string;
  bearerToken?: string;
  timeoutMs: number;
}

/** The part of GET /api/v2/silences that is read (api/v2/openapi.yaml of Alertmanager). */
const silencesAnswer = z.array(
  z.object({
    id: z.string(),
    matchers: z.array(z.object({ name: z.string(), value: z.string(), isRegex: z.boolean() })),
    startsAt: z.string(),
    endsAt: z.string(),
    createdBy: z.string(),
    comment: z.string(),
    status: z.object({ state: z.string() }),
  }),
);

const created = z.object({ silenceID: z.string() });

/** Silences through Alertmanager's v2 API. */
export const alertmanagerSilencer = (access: AlertmanagerAccess): Silencer => {
  const call = async (method: string, path: string, body?: unknown): Promise<SilenceResult<unknown>> => {
    const { url, bearerToken, timeoutMs } = access;
    try {
      const response = await fetch(`${url.replace(/\/$/, '')}/api/v2/${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(bearerToken && { authorization: `Bearer ${bearerToken}` }),
        },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return response.ok ? { ok: true, value: text && parsed(text) } : refused(response.status, text, access);
    } catch (error) {
      return away(access, (error as Error).message);
    }
  };
  return {
    async put({ id, matchers, startsAt, endsAt, by, reason }) {
      const result = await call('POST', 'silences', {
        ...(id !== null && { id }),
        matchers: matchers.map((matcher) => ({ ...matcher, isEqual: true })),
        startsAt,
        endsAt,
        createdBy: by,
        comment: reason,
      });
      if (!result.ok) return result;
      const answer = created.safeParse(result.value);
      return answer.success ? { ok: true, value: answer.data.silenceID } : foreign(access);
    },
    async expire(id) {
      const result = await call('DELETE', `silence/${encodeURIComponent(id)}`);
      if (result.ok) return { ok: true, value: null };
      // Alertmanager answers 404 for an unknown one and 500 `silence ‹id› already expired` for an ended one.
      const { message } = result.failure;
      return /already expired|\b404\b/.test(message) ? { ok: true, value: null } : result;
    },
    async marked(mark) {
      const result = await call('GET', 'silences');
      if (!result.ok) return result;
      const answer = silencesAnswer.safeParse(result.value);
      if (!answer.success) return foreign(access);
      return {
        ok: true,
        value: answer.data
          .filter(({ status, comment }) => status.state !== 'expired' && comment.endsWith(mark))
          .map(
            ({ id, matchers, startsAt, endsAt, createdBy, comment }): Silence => ({
              id,
              matchers,
              startsAt,
              endsAt,
              by: createdBy,
              reason: comment,
            }),
          ),
      };
    },
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const refused = (status: number, text: string, { url }: AlertmanagerAccess): SilenceResult<never> => {
  const message = `Alertmanager at ${url} answers ${status}: ${text.slice(0, 200)}`;
  if (status === 401 || status === 403)
    return {
      ok: false,
      failure: { kind: 'operator', message, fix: 'set alertmanagerToken to a token that may write silences' },
    };
  return status >= 500
    ? { ok: false, failure: { kind: 'retry', message, fix: 'try again, or see its log' } }
    : { ok: false, failure: { kind: 'permanent', message, fix: 'see alertmanagerUrl: it must be its base address' } };
};

const away = ({ url }: AlertmanagerAccess, why: string): SilenceResult<never> => ({
  ok: false,
  failure: {
    kind: 'retry',
    message: `Alertmanager at ${url} does not answer: ${why}`,
    fix: 'see that alertmanagerUrl can be reached from here',
  },
});

const foreign = ({ url }: AlertmanagerAccess): SilenceResult<never> => ({
  ok: false,
  failure: {
    kind: 'operator',
    message: `${url} does not answer as Alertmanager does`,
    fix: 'set alertmanagerUrl to the base address of Alertmanager 0.16 or newer',
  },
});
