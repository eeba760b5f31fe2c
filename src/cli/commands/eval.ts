import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { verdictLine } from '../../eval/lines.ts';
import { evalReport } from '../../eval/report.ts';
import { type ScoredCase, scoreCase, summarise } from '../../eval/score.ts';
import { openSnapshot } from '../../evidence/kubernetes/snapshot.ts';
import { redact } from '../../redaction/redact.ts';
import { loadRules } from '../../rules/load.ts';
import type { RuleSet } from '../../triage/rule.ts';
import { triage } from '../../triage/triage.ts';
import { OperatorError } from '../operator-error.ts';
import { asOperatorError } from '../snapshot-errors.ts';
import { alertTarget, readAlerts } from '../target.ts';
import { jsonLine, printable } from '../terminal.ts';

interface Options {
  json?: boolean;
  min?: string;
}

export default (program: Command): void => {
  program
    .command('eval <dirs...>')
    .description('Triage every incident case below the folders and compare with their right answers')
    .option('--json', 'print one JSON line per case and a summary line')
    .option('--min <accuracy>', 'exit 1 when owner accuracy is below this share (0 to 1)')
    .action(run);
};

const run = async (dirs: string[], options: Options): Promise<void> => {
  const minimum = options.min === undefined ? 0 : Number(options.min);
  if (!(minimum >= 0 && minimum <= 1))
    throw new OperatorError(`--min ${options.min} is no share: give a number from 0 to 1`);
  const ruleSet = await loadRules();
  const folders = (await Promise.all(dirs.map(caseFolders))).flat();
  if (folders.length === 0)
    throw new OperatorError(
      `no case.json below ${dirs.join(', ')}: give folders of incident cases, as \`faultline snapshot --out DIR\` makes them`,
    );
  const scored: ScoredCase[] = [];
  for (const folder of folders) {
    try {
      scored.push(await evalCase(folder, ruleSet, options.json ?? false));
    } catch (error) {
      // One unreadable folder does not cost the figures of the others; the exit status tells of it.
      if (!(error instanceof OperatorError)) throw error;
      process.stderr.write(`${printable(`${folder}: ${error.message}`)}\n`);
      process.exitCode = 2;
    }
  }
  // Without one judged case every figure would be a perfect one.
  if (scored.length === 0) return;
  const summary = summarise(scored);
  process.stdout.write(
    options.json ? jsonLine({ type: 'summary', ...summary }) : `${printable(evalReport(scored, summary))}\n`,
  );
  if (!process.exitCode && summary.ownerAccuracy < minimum) process.exitCode = 1;
};

/** Every folder at or below `dir` that holds a case.json, in order of name. */
const caseFolders = async (dir: string): Promise<string[]> => {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => {
    throw new OperatorError(`cannot read ${dir}: give a folder of incident cases`);
  });
  return entries
    .filter((entry) => entry.name === 'case.json')
    .map((entry) => entry.parentPath)
    .sort();
};

const evalCase = async (folder: string, ruleSet: RuleSet, json: boolean): Promise<ScoredCase> => {
  const started = performance.now();
  const snapshot = await openSnapshot(folder).catch(asOperatorError);
  const { expected, id, cluster } = snapshot.meta;
  if (!expected)
    throw new OperatorError(
      `${join(folder, 'case.json')} has no "expected": there is no answer to compare with. Once you know whose the incident was, add for example\n  "expected": { "owner": "platform", "boundary": "quota", "must_cite": [], "must_not_blame": ["app"] }\n(all fields: docs/cases.md); \`faultline triage --snapshot ${folder}\` says what Faultline makes of it`,
    );
  const target = alertTarget(redact(await readAlerts(join(folder, 'alert.json'))), cluster);
  const result = await triage(ruleSet, target, snapshot, redact);
  if (json) {
    const durationMs = Math.round(performance.now() - started);
    process.stdout.write(jsonLine(verdictLine(id, result.verdict, result.apiCalls, durationMs)));
  }
  return scoreCase(id, result.verdict, expected);
};
