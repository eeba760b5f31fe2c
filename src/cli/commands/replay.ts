import type { Command } from 'commander';
import { replay } from '../../intake/replay.ts';
import { OperatorError } from '../operator-error.ts';
import { readConfig } from '../setup.ts';

export default (program: Command): void => {
  program
    .command('replay <file>')
    .description('Post a saved Alertmanager webhook body to a running server')
    .option('--url <url>', 'address of the server (default: this machine, configured port)')
    .action(run);
};

const run = async (file: string, options: { url?: string }): Promise<void> => {
  const { server, webhooks } = readConfig();
  const token = webhooks.alertmanagerToken ?? webhooks.tokens[0]?.token;
  if (!token)
    throw new OperatorError('no webhook token is configured: set ALERTMANAGER_WEBHOOK_TOKEN to the one the server has');
  const result = await replay({ file, url: options.url ?? `http://localhost:${server.port}`, token: token.reveal() });
  if (!result.ok) throw new OperatorError(`${result.error}: ${result.fix}`);
  for (const { incidentId, change } of result.incidents) process.stdout.write(`${change.padEnd(15)} ${incidentId}\n`);
  for (const reason of result.rejected) process.stdout.write(`set aside       ${reason}\n`);
};
