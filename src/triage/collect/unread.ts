import type { Gap } from '../../domain/facts.ts';
import type { Read } from '../ports.ts';

/** A read that the triage's calls did not suffice for. */
export const overBudget = (what: string, maxApiCalls: number): Gap => ({
  reason: 'over-budget',
  message: `${what}: not read, the triage's ${maxApiCalls} API calls were spent on what tells more`,
  fix: `raise triage.maxApiCalls above ${maxApiCalls}`,
});

/** A source that nobody set up. */
export const notConfigured = (message: string, fix: string): Read<never> => ({
  ok: false,
  gap: { reason: 'not-configured', message, fix },
  free: true,
});
