import { type CommandDeps, Misspoken } from './command.ts';

/** The configured cluster that `--cluster` means; unset: the default one. Throws Misspoken. */
export const clusterOf = (named: string | undefined, deps: CommandDeps): string => {
  const cluster = deps.clusterNamed(named);
  if (cluster !== null) return cluster;
  throw new Misspoken(
    named === undefined ? deps.say('answer.whichCluster') : deps.say('answer.noCluster', { cluster: named }),
  );
};
