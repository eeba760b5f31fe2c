#!/usr/bin/env -S node --max-semi-space-size=4
import { readdir } from 'node:fs/promises';
import { Command } from 'commander';
import { OperatorError } from './cli/operator-error.ts';
import { printable } from './cli/terminal.ts';

/** Every file of `cli/commands/` registers one command: there is no list to edit. */
const program = new Command('faultline')
  .description('Says, with proof, whose Kubernetes incident it is: cloud vendor, platform team or app team.')
  .showHelpAfterError()
  // A wrong call is 2 as in every command: 1 is an answer, of `eval --min` and `doctor`.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

const folder = new URL('./cli/commands/', import.meta.url);
for (const file of (await readdir(folder)).filter((name) => name.endsWith('.ts')).sort()) {
  const module = (await import(new URL(file, folder).href)) as { default: (program: Command) => void };
  module.default(program);
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`${printable(error.message)}\n`);
  process.exitCode = error.exitCode;
}
