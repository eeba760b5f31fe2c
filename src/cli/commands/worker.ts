import type { Command } from 'commander';
import { OperatorError } from '../operator-error.ts';
import { exitOnUnhandled, startupError, untilSignal } from '../run-until-signal.ts';
import { readConfig, readDirectory } from '../setup.ts';

export default (program: Command): void => {
  program.command('worker').description('Work on triage jobs beside a server, on the same database').action(run);
};

const run = async (): Promise<void> => {
  const config = readConfig();
  if (!config.databaseUrl)
    throw new OperatorError(
      'a worker shares its database with the server, and the embedded one is for one process only: set DATABASE_URL',
    );
  const [{ createLog }, { start }] = await Promise.all([import('../../log.ts'), import('../../main.ts')]);
  const log = createLog(config.logLevel);
  exitOnUnhandled(log);
  const running = await start(config, readDirectory(config.ownersDir), log, 'worker').catch((error) => {
    throw startupError(error);
  });
  const stopped = untilSignal(running, log);
  process.stdout.write('Faultline works on triage jobs\n');
  await stopped;
};
