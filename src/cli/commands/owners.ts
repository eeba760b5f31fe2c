import type { Command } from 'commander';
import { configuredClusters, openFolder, openLive } from '../../clusters.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { explainOwner, findWorkload } from '../../routing/explain.ts';
import { collectApp } from '../../triage/collect/app.ts';
import { Collection } from '../../triage/collect/collection.ts';
import { OperatorError } from '../operator-error.ts';
import { readConfig, readDirectory } from '../setup.ts';
import { asOperatorError } from '../snapshot-errors.ts';
import { printable } from '../terminal.ts';

interface Options {
  snapshot?: string;
  context?: string;
  cluster?: string;
}

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

const run = async (workload: string, options: Options): Promise<void> => {
  const config = readConfig();
  const facts = await read(workload, options);
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

const read = async (workload: string, options: Options): Promise<ClusterFacts> => {
  const cluster = await open(options).catch(asOperatorError);
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

const open = async ({ snapshot, context, cluster }: Options) => {
  const config = readConfig();
  if (snapshot) return openFolder(snapshot);
  if (context) return openLive({ context }, undefined, config.triage.readTimeoutMs);
  const name = cluster ?? config.defaultCluster ?? config.clusters[0]?.name;
  const opened = name ? await configuredClusters(config).open(name) : null;
  if (!opened)
    throw new OperatorError('say which cluster: --snapshot DIR, --context NAME, or --cluster NAME of faultline.yaml');
  return opened;
};
