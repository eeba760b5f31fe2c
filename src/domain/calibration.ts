import type { Confidence } from './layer.ts';

/**
 * How often verdicts on the published incident cases (test/cases) were right, by their confidence. A test holds it
 * against the cases.
 */
export const calibration: Record<Confidence, { right: number; of: number }> = {
  high: { right: 81, of: 81 },
  medium: { right: 10, of: 10 },
  low: { right: 7, of: 7 },
};
