import type { Command } from 'commander';
import type { Config } from '../../config/schema.ts';
import { workloadOwner } from '../../workload-owner.ts';
import { type ClusterChoice, openCluster } from '../open-cluster.ts';
import { OperatorError } from '../operator-error.ts';
import { readConfig, readDirectory } from '../setup.ts';
import { printable } from '../terminal.ts';

export default (program: Command): void => {
  program
    .command('owners')
    .description('The owner directory')
    .command('explain <workload>')
    .description('Say who owns <namespace/workload>, and by which fact')
    .option('--snapshot <dir>', 'look in an incident folder')
    .option('--context <name>', 'look in a live cluster: a context of the kubeconfig')
    .option('--cluster <name>', 'look in a configured cluster')
    .action(run);
};

const run = async (workload: string, options: ClusterChoice): Promise<void> => {
  const config = readConfig();
  const cluster = await openCluster(withDefault(options, config));
  const lines = await workloadOwner(cluster, workload, readDirectory(config.ownersDir));
  if (!lines)
    throw new OperatorError(
      `${workload} was not found in ${cluster.identity.name}: write <namespace/workload> or <namespace/kind/name>`,
    );
  process.stdout.write(`${lines.map(printable).join('\n')}\n`);
};

/** The cluster that is named, else the configured one that alerts without a cluster label mean. */
const withDefault = (choice: ClusterChoice, { defaultCluster, clusters }: Config): ClusterChoice => {
  const cluster = defaultCluster ?? clusters[0]?.name;
  return choice.snapshot || choice.context || choice.cluster || !cluster ? choice : { cluster };
};
