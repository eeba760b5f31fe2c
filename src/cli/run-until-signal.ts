import { StorageUnavailable } from '../incidents/ports.ts';
import type { Logger } from '../log.ts';
import type { Running } from '../main.ts';
import { FolderInUse } from '../storage/folder-lock.ts';
import { OperatorError } from './operator-error.ts';

/** What keeps a process from starting and is the operator's to mend. */
export const startupError = (error: unknown): unknown => {
  if (error instanceof FolderInUse) return new OperatorError(error.message);
  if (error instanceof StorageUnavailable)
    return new OperatorError(
      `the database cannot be reached: ${error.message}\nset DATABASE_URL to a PostgreSQL that answers, or unset it for the embedded one`,
    );
  const code = (error as NodeJS.ErrnoException)?.code;
  if (code === 'slack_webapi_platform_error')
    return new OperatorError(
      `Slack refuses the connection: ${(error as Error).message}\nset SLACK_BOT_TOKEN (xoxb-…) and SLACK_APP_TOKEN (xapp-…) to those of the installed app; \`npm run faultline -- doctor\` tries them`,
    );
  if (code === 'EADDRINUSE' || code === 'EACCES')
    return new OperatorError(`cannot listen on the port (${code}): set PORT to a free one`);
  return error;
};

/** Runs until SIGINT or SIGTERM, then stops gracefully; a second signal ends at once. */
export const untilSignal = (running: Running, log: Logger): Promise<void> =>
  new Promise((resolve, reject) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ signal }, 'stopping');
      running.stop().then(resolve, reject);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });

/**
 * A rejection nobody handled leaves the process in an unknown state (a deaf Slack connection, for one): it ends, and
 * whoever supervises it starts it again. The records are whole at every moment.
 */
export const exitOnUnhandled = (log: Logger): void => {
  const end = (error: unknown): void => {
    log.fatal(error instanceof Error ? error : new Error(String(error)));
    process.exit(70);
  };
  process.on('unhandledRejection', end);
  process.on('uncaughtException', end);
};
