import { describeSubject } from '../domain/alert.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { CollectionTarget } from '../triage/collect/collection.ts';
import { printable } from './terminal.ts';

const marks = { cleared: '✓', implicated: '✗', unknown: '?' } as const;

const heading = (verdict: Verdict): string => {
  if (verdict.state === 'expected') return 'EXPECTED: looks like a fault and is normal';
  if (verdict.state === 'over') return 'OVER: it ended by itself';
  return verdict.owner === 'undetermined'
    ? 'CANNOT TELL whose incident this is'
    : `OWNER ${verdict.owner} (${verdict.confidence} confidence)`;
};

const section = (title: string, lines: string[]): string[] =>
  lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];

/** A verdict for the terminal: the answer first, then its proof. */
export const verdictReport = (target: CollectionTarget, verdict: Verdict): string =>
  printable(
    [
      `${target.alerts[0]?.labels.alertname ?? 'Triage'} · ${target.subjects[0] ? describeSubject(target.subjects[0]) : target.cluster.name} · ${target.cluster.name}`,
      heading(verdict),
      verdict.cause.en,
      ...section(
        'Layers',
        verdict.layers.map((layer) =>
          layer.status === 'unknown'
            ? `${marks.unknown} ${layer.layer}: unknown, ${layer.missing} → ${layer.fix}`
            : `${marks[layer.status]} ${layer.layer}: ${layer.because}`,
        ),
      ),
      ...section(
        'Chain',
        verdict.chain.map((link) => `${link.object}${link.uid ? ` (${link.uid})` : ''}: ${link.claim}`),
      ),
      ...section(
        'Evidence',
        verdict.evidence.flatMap((entry) => [
          `[${entry.layer}/${entry.source}] ${entry.object} ${entry.field}${entry.value && ` = ${entry.value}`}${entry.at ? ` at ${entry.at}` : ''}`,
          ...(entry.text ? [`  ${entry.text}`] : []),
          `  again: ${entry.reproduce}`,
        ]),
      ),
      ...section(
        'Next',
        verdict.nextSteps.map((step, index) => `${index + 1}. ${step.en}`),
      ),
      ...section(
        'Also to do',
        verdict.contributing.map((entry) => `${entry.owner}: ${entry.action.en}`),
      ),
      ...section(
        'Missing',
        verdict.missing.map((entry) => `${entry.layer}: ${entry.missing} → ${entry.fix}`),
      ),
      ...section('Would change this', verdict.wouldChange),
      ...section('Impact', [verdict.impact]),
      ...(verdict.deadline ? section('Re-check', [`a fault if it still lasts at ${verdict.deadline}`]) : []),
    ]
      // A text of several lines stays below its own, and cannot pose as one of ours.
      .map((line) => line.replaceAll('\n', '\n      '))
      .join('\n'),
  );
