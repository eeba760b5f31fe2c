import { join } from 'node:path';
import type { Command } from 'commander';
import type { OpenCluster } from '../../clusters.ts';
import { verdictLine } from '../../eval/lines.ts';
import { redact } from '../../redaction/redact.ts';
import { loadRules } from '../../rules/load.ts';
import type { CollectionTarget } from '../../triage/collect/collection.ts';
import { reasoningOf } from '../../triage/reasoning.ts';
import type { RuleSet } from '../../triage/rule.ts';
import { type TriageResult, triage } from '../../triage/triage.ts';
import { explainReport } from '../explain-report.ts';
import { type ClusterChoice, openCluster } from '../open-cluster.ts';
import { OperatorError } from '../operator-error.ts';
import { alertTarget, objectTarget, readAlerts, refuseAbsent } from '../target.ts';
import { jsonLine, printable } from '../terminal.ts';
import { verdictReport } from '../verdict-report.ts';

interface Options extends ClusterChoice {
  alert?: string;
  namespace?: string;
  json?: boolean;
  explain?: boolean;
}

export default (program: Command): void => {
  program
    .command('triage [object]')
    .description('Triage one incident: an alert, or an object such as deployment/web')
    .option('--snapshot <dir>', 'an incident folder or any tree of Kubernetes objects')
    .option('--cluster <name>', 'a live cluster of faultline.yaml')
    .option('--context <name>', 'a live cluster: a context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG or ~/.kube/config)')
    .option('--prometheus <url>', 'Prometheus of the live cluster')
    .option('--alert <file>', 'an Alertmanager webhook body')
    .option('-n, --namespace <namespace>', 'namespace of the object')
    .option('--json', 'print the verdict as one JSON line')
    .option('--explain', 'print the reasoning too: what was read, which rules spoke, why other owners were cleared')
    .action(run);
};

const run = async (object: string | undefined, options: Options): Promise<void> => {
  const started = performance.now();
  const cluster = await openCluster(options);
  const target = redact(await targetOf(object, options, cluster));
  const ruleSet = await loadRules();
  const result = await triage(ruleSet, target, cluster.readers(), redact);
  // An object that is gone may still have left its cause behind, in events for one.
  if (object && result.verdict.rule === null) refuseAbsent(target, result.facts);
  process.stdout.write(
    options.json
      ? jsonLine(verdictLine(cluster.id, result.verdict, result.apiCalls, Math.round(performance.now() - started)))
      : `${verdictReport(target, result.verdict)}\n${options.explain ? `${explained(ruleSet, result)}\n` : ''}`,
  );
};

const explained = (ruleSet: RuleSet, { judgement, verdict, facts }: TriageResult): string =>
  printable(explainReport(reasoningOf(ruleSet, judgement, verdict, facts), verdict));

const targetOf = async (
  object: string | undefined,
  options: Options,
  cluster: OpenCluster,
): Promise<CollectionTarget> => {
  if (object) return objectTarget(object, options.namespace, cluster.identity);
  const file = options.alert ?? (options.snapshot ? join(options.snapshot, 'alert.json') : undefined);
  if (!file) throw new OperatorError('say what to triage: <kind/name> -n <namespace>, or --alert FILE');
  return alertTarget(await readAlerts(file), cluster.identity);
};
