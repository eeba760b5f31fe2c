import type { Confidence, Owner } from '../domain/layer.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ExpectedAnswer as Expected } from '../evidence/kubernetes/case-file.ts';

export interface ScoredCase {
  id: string;
  verdict: Verdict;
  expected: Expected;
  /** `tolerated`: an expected or over case judged as a fault that blames nobody wrongly. */
  result: 'right' | 'tolerated' | 'wrong';
  wrongPage: boolean;
  vendorFalseAlarm: boolean;
  cited: number;
  mustCite: number;
  missed: string[];
}

export interface Summary {
  cases: number;
  ownerAccuracy: number;
  /** Accuracy with each wrong owner at high confidence counted twice. */
  score: number;
  wrongPages: number;
  wrongPagesAtHigh: number;
  vendorFalseAlarms: number;
  evidenceRecall: number;
  boundaryAccuracy: number;
  calibration: Record<Confidence, { right: number; of: number }>;
  confusion: Record<string, Record<string, number>>;
  failed: string[];
}

const ownerIsRight = (verdict: Verdict, expected: Expected): boolean =>
  verdict.state === 'fault' && (verdict.owner === expected.owner || expected.accept.includes(verdict.owner));

/** One verdict against the right answer. */
export const scoreCase = (id: string, verdict: Verdict, expected: Expected): ScoredCase => {
  const texts = verdict.evidence.flatMap((entry) => [entry.object, entry.field, entry.value, entry.text]);
  const missed = expected.must_cite.filter((pattern) => !texts.some((entry) => new RegExp(pattern, 's').test(entry)));
  const named: Owner = verdict.state === 'fault' ? verdict.owner : 'undetermined';
  const allowed: Owner[] = [expected.owner, ...expected.accept];
  return {
    id,
    verdict,
    expected,
    result: resultOf(verdict, expected),
    wrongPage: expected.must_not_blame.includes(named),
    vendorFalseAlarm: named === 'cloud' && !allowed.includes('cloud'),
    cited: expected.must_cite.length - missed.length,
    mustCite: expected.must_cite.length,
    missed,
  };
};

const resultOf = (verdict: Verdict, expected: Expected): ScoredCase['result'] => {
  if (expected.state === 'fault') return ownerIsRight(verdict, expected) ? 'right' : 'wrong';
  if (verdict.state !== 'fault') return 'right';
  return verdict.owner === 'undetermined' || expected.accept.includes(verdict.owner) ? 'tolerated' : 'wrong';
};

const ratio = (part: number, whole: number): number => (whole === 0 ? 1 : Math.round((part / whole) * 10_000) / 10_000);
const expectedName = (expected: Expected): string => (expected.state === 'fault' ? expected.owner : expected.state);
const verdictName = (verdict: Verdict): string => (verdict.state === 'fault' ? verdict.owner : verdict.state);

export const summarise = (cases: ScoredCase[]): Summary => {
  const right = cases.filter((entry) => entry.result === 'right').length;
  const highAndWrong = cases.filter((entry) => entry.result === 'wrong' && entry.verdict.confidence === 'high').length;
  const calibration: Summary['calibration'] = {
    high: { right: 0, of: 0 },
    medium: { right: 0, of: 0 },
    low: { right: 0, of: 0 },
  };
  const confusion: Summary['confusion'] = {};
  for (const entry of cases) {
    const bucket = calibration[entry.verdict.confidence];
    bucket.of += 1;
    if (entry.result === 'right') bucket.right += 1;
    const row = confusion[expectedName(entry.expected)] ?? {};
    confusion[expectedName(entry.expected)] = row;
    row[verdictName(entry.verdict)] = (row[verdictName(entry.verdict)] ?? 0) + 1;
  }
  return {
    cases: cases.length,
    ownerAccuracy: ratio(right, cases.length),
    score: ratio(right - highAndWrong, cases.length),
    wrongPages: cases.filter((entry) => entry.wrongPage).length,
    wrongPagesAtHigh: cases.filter((entry) => entry.wrongPage && entry.verdict.confidence === 'high').length,
    vendorFalseAlarms: cases.filter((entry) => entry.vendorFalseAlarm).length,
    evidenceRecall: ratio(
      sum(cases, (entry) => entry.cited),
      sum(cases, (entry) => entry.mustCite),
    ),
    boundaryAccuracy: ratio(
      cases.filter((entry) => entry.verdict.boundary === entry.expected.boundary).length,
      cases.length,
    ),
    calibration,
    confusion,
    failed: cases.filter((entry) => entry.result === 'wrong').map((entry) => entry.id),
  };
};

const sum = (cases: ScoredCase[], value: (entry: ScoredCase) => number): number =>
  cases.reduce((total, entry) => total + value(entry), 0);
