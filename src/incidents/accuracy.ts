import type { Confidence, Layer } from '../domain/layer.ts';

/** An incident whose newest verdict named an owner, and what people made of it. */
export interface Judged {
  owner: Layer;
  rule: string | null;
  confidence: Confidence;
  /** A person said that this owner was wrong. */
  corrected: boolean;
  /** Milliseconds from opening to acknowledgement; null where nobody has acknowledged. */
  acknowledgedAfterMs: number | null;
  /** Milliseconds from opening to the hand-off; null where there was none. */
  handedOverAfterMs: number | null;
}

export interface Share {
  name: string;
  verdicts: number;
  corrected: number;
}

/** How often verdicts held. What nobody corrected counts as held, which is not the same as confirmed. */
export interface Accuracy {
  all: Share;
  byOwner: Share[];
  byConfidence: Share[];
  /** Rules whose verdicts were corrected, the most often first. */
  correctedRules: Share[];
  medianAcknowledgedAfterMs: number | null;
  medianHandedOverAfterMs: number | null;
}

export const accuracyOf = (judged: Judged[]): Accuracy => ({
  all: share('all', judged),
  byOwner: sharesBy(judged, ({ owner }) => owner),
  byConfidence: sharesBy(judged, ({ confidence }) => confidence),
  correctedRules: sharesBy(judged, ({ rule }) => rule ?? 'none')
    .filter(({ corrected }) => corrected > 0)
    .sort((a, b) => b.corrected - a.corrected || a.name.localeCompare(b.name)),
  medianAcknowledgedAfterMs: median(judged.map(({ acknowledgedAfterMs }) => acknowledgedAfterMs)),
  medianHandedOverAfterMs: median(judged.map(({ handedOverAfterMs }) => handedOverAfterMs)),
});

const share = (name: string, judged: Judged[]): Share => ({
  name,
  verdicts: judged.length,
  corrected: judged.filter(({ corrected }) => corrected).length,
});

const sharesBy = (judged: Judged[], by: (one: Judged) => string): Share[] =>
  [...Map.groupBy(judged, by)].map(([name, some]) => share(name, some)).sort((a, b) => b.verdicts - a.verdicts);

const median = (values: (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known[Math.floor((known.length - 1) / 2)] ?? null;
};
