import type { Command } from 'commander';
import { z } from 'zod';
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

const reply = z.object({ lines: z.array(z.string()) });

const run = async (words: string[], options: { server?: string }): Promise<void> => {
  const text = words.map((word) => (/[\s"]/.test(word) ? `"${word.replaceAll('"', "'")}"` : word)).join(' ');
  const { lines } = await askServer({ server: options.server, path: '/command', body: text, shape: reply });
  process.stdout.write(`${lines.map(printable).join('\n')}\n`);
};
