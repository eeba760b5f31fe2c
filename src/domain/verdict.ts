import type { Evidence } from './evidence.ts';
import type { ChainLink, Contribution, MissingRead } from './finding.ts';
import type { Boundary, Confidence, Layer, Owner, VerdictState } from './layer.ts';
import type { Text } from './text.ts';

/** Every layer ends in one of three states. */
export type LayerVerdict =
  | { layer: Layer; status: 'cleared'; because: string }
  | { layer: Layer; status: 'implicated'; because: string }
  /** `silent`: all was read, and nothing speaks for or against the layer; `fix` is then where a person looks. */
  | { layer: Layer; status: 'unknown'; missing: string; fix: string; silent?: true };

/** The answer to "whose incident is this?", with its proof. Times are ISO 8601. */
export interface Verdict {
  state: VerdictState;
  owner: Owner;
  boundary: Boundary | null;
  confidence: Confidence;
  cause: Text;
  /** Id of the rule whose finding is the root; null when none reached the subject. */
  rule: string | null;
  contributing: Contribution[];
  evidence: Evidence[];
  chain: ChainLink[];
  layers: LayerVerdict[];
  missing: MissingRead[];
  nextSteps: Text[];
  /** What the evidence cannot show, and what would change the verdict. */
  cannotShow: string[];
  wouldChange: string[];
  impact: string;
  onset: string | null;
  deadline: string | null;
  /** Hash over the ids and sources of all rules, so that a stored verdict names what judged it. */
  ruleSet: string;
}
