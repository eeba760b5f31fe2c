import { join } from 'node:path';
import type { Command } from 'commander';
import { verdictLine } from '../../eval/lines.ts';
import { openSnapshot, type Snapshot } from '../../evidence/kubernetes/snapshot.ts';
import { loadRules } from '../../rules/load.ts';
import type { CollectionTarget } from '../../triage/collect/collection.ts';
import { triage } from '../../triage/triage.ts';
import { OperatorError } from '../operator-error.ts';
import { asOperatorError } from '../snapshot-errors.ts';
import { alertTarget, objectTarget, readAlerts } from '../target.ts';
import { verdictReport } from '../verdict-report.ts';

interface Options {
  snapshot?: string;
  context?: string;
  kubeconfig?: string;
  alert?: string;
  namespace?: string;
  json?: boolean;
}

export default (program: Command): void => {
  program
    .command('triage [object]')
    .description('Triage one incident: an alert, or an object such as deployment/web')
    .option('--snapshot <dir>', 'an incident folder or any tree of Kubernetes objects')
    .option('--context <name>', 'a live cluster: a context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG or ~/.kube/config)')
    .option('--alert <file>', 'an Alertmanager webhook body')
    .option('-n, --namespace <namespace>', 'namespace of the object')
    .option('--json', 'print the verdict as one JSON line')
    .action(run);
};

const run = async (object: string | undefined, options: Options): Promise<void> => {
  const started = performance.now();
  const cluster = await open(options);
  const target = await targetOf(object, options, cluster);
  const result = await triage(await loadRules(), target, cluster);
  const id = cluster.meta.id;
  process.stdout.write(
    options.json
      ? `${JSON.stringify(verdictLine(id, result.verdict, result.apiCalls, Math.round(performance.now() - started)))}\n`
      : `${verdictReport(target, result.verdict)}\n`,
  );
};

const open = async (options: Options): Promise<Snapshot> => {
  if (options.snapshot && options.context)
    throw new OperatorError('--snapshot and --context exclude each other: give one');
  if (options.snapshot) return openSnapshot(options.snapshot).catch(asOperatorError);
  throw new OperatorError('say which cluster: --snapshot DIR, or --context NAME of your kubeconfig');
};

const targetOf = async (object: string | undefined, options: Options, cluster: Snapshot): Promise<CollectionTarget> => {
  if (object) return objectTarget(object, options.namespace, cluster.meta.cluster);
  const file = options.alert ?? (options.snapshot ? join(options.snapshot, 'alert.json') : undefined);
  if (!file) throw new OperatorError('say what to triage: <kind/name> -n <namespace>, or --alert FILE');
  return alertTarget(await readAlerts(file), cluster.meta.cluster);
};
