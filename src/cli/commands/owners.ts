import type { Command } from 'commander';
import type { Config } from '../../config/schema.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { explainOwner, findWorkload } from '../../routing/explain.ts';
import { collectApp } from '../../triage/collect/app.ts';
import { Collection } from '../../triage/collect/collection.ts';
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
  const facts = await read(workload, withDefault(options, config));
  const target = findWorkload(facts, workload);
  if (!target)
    throw new OperatorError(
      `${workload} was not found in ${facts.identity.name}: write <namespace/workload> or <namespace/kind/name>`,
    );
  const { party, knownBy, looked } = explainOwner({
    target,
    facts,
    directory: readDirectory(config.ownersDir),
    alerts: [],
  });
  const lines = [
    `${workload} belongs to ${party.name}: ${knownBy}`,
    ...looked.map((fact) => `  ${fact.outcome.padEnd(9)} ${fact.where}: ${fact.what}`),
  ];
  process.stdout.write(`${lines.map(printable).join('\n')}\n`);
};

const read = async (workload: string, choice: ClusterChoice): Promise<ClusterFacts> => {
  const cluster = await openCluster(choice);
  const namespace = workload.split('/')[0];
  const subject = { cluster: cluster.identity.name, kind: 'Namespace', name: namespace, namespace };
  const collection = new Collection(
    'app',
    { cluster: cluster.identity, subjects: [subject], alerts: [] },
    cluster.readers(),
  );
  await collectApp(collection);
  return collection.view();
};

/** The cluster that is named, else the configured one that alerts without a cluster label mean. */
const withDefault = (choice: ClusterChoice, { defaultCluster, clusters }: Config): ClusterChoice => {
  const cluster = defaultCluster ?? clusters[0]?.name;
  return choice.snapshot || choice.context || choice.cluster || !cluster ? choice : { cluster };
};
