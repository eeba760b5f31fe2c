import type { Verdict } from '../domain/verdict.ts';

/** The JSON line of one verdict, always in English (see docs/cases.md for the contract). */
export const verdictLine = (
  id: string,
  verdict: Verdict,
  apiCalls: number,
  durationMs: number,
): Record<string, unknown> => ({
  type: 'verdict',
  id,
  state: verdict.state,
  owner: verdict.owner,
  boundary: verdict.boundary,
  confidence: verdict.confidence,
  cause: verdict.cause.en,
  rule: verdict.rule,
  contributing: verdict.contributing.map(({ owner, action }) => ({ owner, action: action.en })),
  evidence: verdict.evidence,
  chain: verdict.chain,
  cleared: verdict.layers.flatMap((layer) =>
    layer.status === 'cleared' ? [{ layer: layer.layer, because: layer.because }] : [],
  ),
  unknown: verdict.layers.flatMap((layer) =>
    layer.status === 'unknown' ? [{ layer: layer.layer, missing: layer.missing, fix: layer.fix }] : [],
  ),
  missing: verdict.missing,
  nextSteps: verdict.nextSteps.map((step) => step.en),
  deadline: verdict.deadline,
  apiCalls,
  durationMs,
});
