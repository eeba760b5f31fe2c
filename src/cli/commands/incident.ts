import type { Command } from 'commander';
import { OperatorError } from '../operator-error.ts';
import { readConfig } from '../setup.ts';
import { printable } from '../terminal.ts';

export default (program: Command): void => {
  program
    .command('incident [words...]')
    .description('List incidents and act on them, as in Slack: `faultline incident help`')
    .option('--server <url>', 'where Faultline serves; unset: this machine, at the configured port')
    .allowUnknownOption()
    .action(run);
};

const run = async (words: string[], options: { server?: string }): Promise<void> => {
  const server = options.server ?? `http://localhost:${readConfig().server.port}`;
  const text = words.map((word) => (/[\s"]/.test(word) ? `"${word.replaceAll('"', "'")}"` : word)).join(' ');
  const response = await fetch(new URL('/command', server), { method: 'POST', body: text }).catch(() => {
    throw new OperatorError(
      `no Faultline answers at ${server}: start it with \`faultline serve\`, or name it with --server`,
    );
  });
  const body = (await response.json().catch(() => ({}))) as { lines?: string[]; error?: string; fix?: string };
  if (!response.ok || !body.lines)
    throw new OperatorError(`${server} refused: ${body.error ?? response.status}${body.fix ? `; ${body.fix}` : ''}`);
  process.stdout.write(`${body.lines.map(printable).join('\n')}\n`);
};
