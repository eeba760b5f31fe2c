import type { LayerFacts } from '../domain/facts.ts';
import type { Finding } from '../domain/finding.ts';
import { reaches } from '../triage/causation.ts';
import type { TriageResult } from '../triage/triage.ts';

/** How the verdict came about: what was read, which rules spoke and stayed silent, and why the others lost. */
export const explainReport = ({ verdict, judgement, facts }: TriageResult): string => {
  const { findings, silent, broken, scope } = judgement;
  const root = findings.find((finding) => finding.rule === verdict.rule && finding.cause.en === verdict.cause.en);
  return [
    '',
    'Read',
    ...facts.map(readLine),
    ...gapLines(facts),
    '',
    `In scope: ${scope.wide ? 'the whole cluster' : [...scope.workloads, ...scope.subjectNodes, ...scope.pools].map((object) => `${object.kind} ${object.metadata.name}`).join(', ') || 'the subject alone'}; ${scope.troubledPods.length} of ${scope.pods.length} pods in trouble`,
    '',
    `Rules that spoke (${findings.length})`,
    ...findings.map(
      (finding) =>
        `  ${mark(finding, root, reaches(finding, scope))} ${finding.rule}: ${finding.cause.en}\n      ${placeOf(finding)}`,
    ),
    '',
    `Rules that stayed silent (${silent.length})`,
    `  ${silent.join(', ')}`,
    ...broken.map(({ rule, message }) => `Broken: ${rule}: ${message}`),
  ].join('\n');
};

const readLine = (batch: LayerFacts): string => {
  const read = batch.reads.filter((entry) => !entry.gap).length;
  return `  ${batch.layer}: ${batch.objects.length} objects, ${batch.logs.length} logs, ${batch.series.length} series, ${batch.cloud.length} cloud answers; ${read} of ${batch.reads.length} reads answered`;
};

const gapLines = (facts: LayerFacts[]): string[] => {
  const gaps = facts.flatMap((batch) =>
    batch.reads.flatMap((read) => (read.gap && read.source === 'kubernetes' ? [read.gap] : [])),
  );
  const unique = [
    ...new Map(gaps.filter((gap) => gap.reason !== 'not-collected').map((gap) => [gap.message, gap])).values(),
  ];
  return unique.map((gap) => `  not readable: ${gap.message} → ${gap.fix}`);
};

const mark = (finding: Finding, root: Finding | undefined, connected: boolean): string => {
  if (finding === root) return '● root      ';
  if (!connected) return '○ elsewhere ';
  return root?.explains.includes(finding.mechanism) ? '→ effect    ' : '· other     ';
};

const placeOf = (finding: Finding): string =>
  `${finding.state}, ${finding.owner}, ${finding.mechanism}, ${finding.strength}${finding.onset ? `, since ${finding.onset}` : ''}`;
