import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import type { OpenCluster } from '../../clusters.ts';
import type { LayerFacts } from '../../domain/facts.ts';
import { refuseUsedFolder, writeFolder } from '../../evidence/snapshot-writer/write.ts';
import type { CollectionTarget } from '../../triage/collect/collection.ts';
import { askServer } from '../ask-server.ts';
import { capture } from '../capture.ts';
import { type ClusterChoice, openCluster } from '../open-cluster.ts';
import { OperatorError } from '../operator-error.ts';
import { asOperatorError } from '../snapshot-errors.ts';
import { alertTarget, objectTarget, readAlerts } from '../target.ts';
import { printable } from '../terminal.ts';

interface Options extends ClusterChoice {
  out: string;
  alert?: string;
  incident?: string;
  server?: string;
  namespace?: string;
}

export default (program: Command): void => {
  program
    .command('snapshot [object]')
    .description(
      'Save what a triage reads of one incident, redacted, as a folder that `triage --snapshot` judges alike',
    )
    .requiredOption('--out <dir>', 'the folder to write: new or empty')
    .option('--cluster <name>', 'a live cluster of faultline.yaml')
    .option('--context <name>', 'a live cluster: a context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG or ~/.kube/config)')
    .option('--prometheus <url>', 'Prometheus of the live cluster')
    .option('--snapshot <dir>', 'an incident folder or any tree of Kubernetes objects')
    .option('--alert <file>', 'an Alertmanager webhook body')
    .option('--incident <id>', 'an incident of a running server, with the owner that a person corrected')
    .option('--server <url>', 'where Faultline serves; unset: this machine, at the configured port')
    .option('-n, --namespace <namespace>', 'namespace of the object')
    .action(run);
};

const run = async (object: string | undefined, options: Options): Promise<void> => {
  const { out, namespace } = options;
  await refuseUsedFolder(out).catch(asOperatorError);
  if (options.incident) return save(out, options.incident, options.server);
  const alertFile = options.alert ?? (options.snapshot && !object ? join(options.snapshot, 'alert.json') : undefined);
  if (!object && !alertFile) throw new OperatorError('say what to save: <kind/name> -n <namespace>, or --alert FILE');
  const cluster = await openCluster(options);
  const target = await targetOf(object, namespace, alertFile, cluster);
  const alert = alertFile ? JSON.parse(await readFile(alertFile, 'utf8')) : undefined;
  const { files, untold, facts } = await capture(basename(resolve(out)), target, cluster.readers(), alert);
  await writeFolder(out, files).catch(asOperatorError);
  const subject = object && !alertFile ? `${object}${namespace ? ` -n ${namespace}` : ''} ` : '';
  process.stdout.write(`${printable(report(out, facts, untold, subject))}\n`);
};

const caseFiles = z.object({ files: z.record(z.string(), z.string()) });

/** Of a stored incident everything was read before: the server gives its folder. */
const save = async (out: string, incident: string, server?: string): Promise<void> => {
  const path = `/incidents/${encodeURIComponent(incident)}/case`;
  const { files } = await askServer({ server, path, shape: caseFiles });
  await writeFolder(out, new Map(Object.entries(files))).catch(asOperatorError);
  const corrected = files['case.json']?.includes('"expected"');
  const next = corrected
    ? `Its owner was corrected, so it is a case with an answer: faultline eval ${out}`
    : `Judge it: faultline triage --snapshot ${out}`;
  process.stdout.write(`${printable(`Wrote ${out}. Secrets are redacted; names and addresses are not.\n\n${next}`)}\n`);
};

/** An object and an alert together are one incident: what a triage of either would read is collected. */
const targetOf = async (
  object: string | undefined,
  namespace: string | undefined,
  alertFile: string | undefined,
  { identity }: OpenCluster,
): Promise<CollectionTarget> => {
  const fromObject = object && objectTarget(object, namespace, identity);
  const fromAlert = alertFile && alertTarget(await readAlerts(alertFile), identity);
  return {
    cluster: identity,
    subjects: [...(fromObject ? fromObject.subjects : []), ...(fromAlert ? fromAlert.subjects : [])],
    alerts: fromAlert ? fromAlert.alerts : [],
  };
};

const report = (out: string, facts: LayerFacts[], untold: string[], subject: string): string => {
  const count = (list: (batch: LayerFacts) => unknown[]): number =>
    facts.reduce((sum, batch) => sum + list(batch).length, 0);
  const figures = `${count((batch) => batch.objects)} readings of objects, ${count((batch) => batch.logs)} logs, ${count((batch) => batch.series)} series, ${count((batch) => batch.cloud)} cloud answers`;
  return [
    `Wrote ${out}: ${figures}. Secrets are redacted; names and addresses are not.`,
    ...(untold.length > 0
      ? ['', 'Read, and not told by the folder:', ...[...new Set(untold)].map((line) => `  ${line}`)]
      : []),
    '',
    `Judge it: faultline triage ${subject}--snapshot ${out}`,
    '',
    `If the verdict is wrong, say the right one: add to ${join(out, 'case.json')} (docs/cases.md)`,
    '  "expected": {',
    '    "owner": "cloud, platform, app or undetermined: who had to act",',
    '    "boundary": "where the fault was: node, config, application …, or null",',
    '    "must_cite": ["a regular expression that the deciding evidence matches"],',
    '    "must_not_blame": ["owners whom it would be wrong to page"]',
    '  }',
    ...(subject ? [`and the alert's webhook body as ${join(out, 'alert.json')},`] : []),
    `then: faultline eval ${out}`,
  ].join('\n');
};
