import type { Command } from 'commander';
import { askServer } from '../ask-server.ts';
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
  const text = words.map((word) => (/[\s"]/.test(word) ? `"${word.replaceAll('"', "'")}"` : word)).join(' ');
  const { lines } = (await askServer(options.server, '/command', text)) as { lines: string[] };
  process.stdout.write(`${lines.map(printable).join('\n')}\n`);
};
