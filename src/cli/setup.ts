import { existsSync } from 'node:fs';
import { describeProblem, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { emptyDirectory, type OwnerDirectory } from '../routing/directory.ts';
import { describeDirectoryProblem, loadDirectory } from '../routing/load-directory.ts';
import { OperatorError } from './operator-error.ts';

/** The configuration of file and environment. Throws OperatorError with every problem at once. */
export const readConfig = (): Config => {
  const loaded = loadConfig(process.env);
  if (!loaded.ok) throw problems('configuration', loaded.problems.map(describeProblem));
  return loaded.config;
};

/** The owner directory; an absent folder is an empty one. Throws OperatorError with every problem at once. */
export const readDirectory = (folder: string): OwnerDirectory => {
  if (!existsSync(folder)) return emptyDirectory;
  const loaded = loadDirectory(folder);
  if (!loaded.ok) throw problems('owner directory', loaded.problems.map(describeDirectoryProblem));
  return loaded.directory;
};

const problems = (what: string, lines: string[]): OperatorError =>
  new OperatorError(
    [
      `The ${what} has ${lines.length === 1 ? 'a problem' : `${lines.length} problems`}:`,
      ...lines.map((line) => `  ${line}`),
    ].join('\n'),
  );
