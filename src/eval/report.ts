import type { ScoredCase, Summary } from './score.ts';

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

/** The figures and every failed case with the evidence that misled it, for the terminal. */
export const evalReport = (cases: ScoredCase[], summary: Summary): string =>
  [
    `cases                ${summary.cases}`,
    `owner accuracy       ${percent(summary.ownerAccuracy)}  (score ${percent(summary.score)}: a wrong owner at high confidence counts double)`,
    `wrong pages          ${summary.wrongPages}, at high confidence ${summary.wrongPagesAtHigh}`,
    `vendor false alarms  ${summary.vendorFalseAlarms}`,
    `evidence recall      ${percent(summary.evidenceRecall)}`,
    `boundary             ${percent(summary.boundaryAccuracy)}`,
    `by confidence        ${Object.entries(summary.calibration).map(calibrationWords).join(', ')}`,
    '',
    'answer → verdict',
    ...Object.entries(summary.confusion)
      .sort()
      .map(
        ([answer, row]) =>
          `  ${answer.padEnd(13)} ${Object.entries(row)
            .map(([name, count]) => `${name} ${count}`)
            .join(', ')}`,
      ),
    ...cases.filter((entry) => entry.result === 'wrong').flatMap(failure),
    ...cases.filter((entry) => entry.result !== 'wrong' && entry.missed.length > 0).flatMap(uncited),
  ].join('\n');

/** Cases of one confidence; without any, a share would say nothing. */
const calibrationWords = ([level, { right, of }]: [string, { right: number; of: number }]): string =>
  of === 0 ? `${level} none` : `${level} ${right} of ${of} right (${percent(right / of)})`;

const failure = (entry: ScoredCase): string[] => {
  const { verdict, expected } = entry;
  const misleading = verdict.evidence[0];
  return [
    '',
    `✗ ${entry.id}: ${verdict.state === 'fault' ? verdict.owner : verdict.state} at ${verdict.confidence} confidence, answer ${[expected.state === 'fault' ? expected.owner : expected.state, ...expected.accept].join(' or ')}`,
    `    rule ${verdict.rule ?? 'none'}: ${verdict.cause.en}`,
    ...(misleading
      ? [
          `    misled by ${misleading.object} ${misleading.field} ${misleading.value} ${misleading.text}`
            .trimEnd()
            .slice(0, 240),
        ]
      : ['    no evidence reached the subject']),
  ];
};

const uncited = (entry: ScoredCase): string[] => [
  `· ${entry.id}: right, without evidence for ${entry.missed.join(' and ')}`,
];
