import type { Command } from 'commander';
import { exitOnUnhandled, startupError, untilSignal } from '../run-until-signal.ts';
import { readConfig, readDirectory } from '../setup.ts';

export default (program: Command): void => {
  program.command('serve').description('Receive alerts, triage, post: the whole service').action(run);
};

const run = async (): Promise<void> => {
  const config = readConfig();
  const [{ createLog }, { start }] = await Promise.all([import('../../log.ts'), import('../../main.ts')]);
  const log = createLog(config.logLevel);
  exitOnUnhandled(log);
  const running = await start(config, readDirectory(config.ownersDir), log, 'serve').catch((error) => {
    throw startupError(error);
  });
  const sender = config.slack.botToken ? `Slack, channel ${config.slack.channel}` : 'the local console';
  // Whoever reads the line may stop the process at once.
  const stopped = untilSignal(running, log);
  process.stdout.write(`Faultline serves on ${running.url}; threads go to ${sender}\n`);
  await stopped;
};
