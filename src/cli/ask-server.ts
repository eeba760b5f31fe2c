import { OperatorError } from './operator-error.ts';
import { readConfig } from './setup.ts';

/** Asks a running server; `server` unset: the one of this machine. Throws OperatorError where it is away or refuses. */
export const askServer = async (server: string | undefined, path: string, body?: string): Promise<unknown> => {
  const base = server ?? `http://localhost:${readConfig().server.port}`;
  if (!URL.canParse(base)) throw new OperatorError(`${base} is no address: write http://host:port`);
  const request = body === undefined ? {} : { method: 'POST', body };
  const response = await fetch(new URL(path, base), request).catch(() => {
    throw new OperatorError(
      `no Faultline answers at ${base}: start it with \`faultline serve\`, or name it with --server`,
    );
  });
  const answer = (await response.json().catch(() => null)) as { error?: string; fix?: string } | null;
  if (!response.ok || answer === null)
    throw new OperatorError(
      `${base} refused: ${answer?.error ?? response.status}${answer?.fix ? `; ${answer.fix}` : ''}`,
    );
  return answer;
};
