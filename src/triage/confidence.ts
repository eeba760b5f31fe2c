import type { Finding } from '../domain/finding.ts';
import { type Confidence, layers } from '../domain/layer.ts';
import type { LayerVerdict } from '../domain/verdict.ts';

/** One reason to be less sure of a verdict. One leaves `medium`, more leave `low`. */
export interface Doubt {
  weight: 1 | 2;
  words: string;
}

/** `high` needs direct evidence of the root, no rival, and positive clearance of the layers above the owner. */
export const confidenceOf = (doubts: Doubt[]): Confidence => {
  const sum = doubts.reduce((total, doubt) => total + doubt.weight, 0);
  return sum === 0 ? 'high' : sum === 1 ? 'medium' : 'low';
};

/** What speaks against being sure of a root; nothing where the verdict is of high confidence. */
export const doubtsOf = (root: Finding, rivals: Finding[], verdicts: LayerVerdict[]): Doubt[] => {
  if (root.state !== 'fault')
    return root.strength === 'circumstantial' ? [{ weight: 1, words: 'the evidence is circumstantial' }] : [];
  if (root.owner === 'undetermined') return [{ weight: 2, words: 'the evidence names no owner' }];
  const open = verdicts.slice(0, layers.indexOf(root.owner)).filter((layer) => layer.status === 'unknown');
  return [
    ...proof[root.strength],
    ...(rivals.length > 0
      ? [{ weight: 1, words: `another root is as well proven: ${rivals.map(({ rule }) => rule).join(', ')}` } as const]
      : []),
    ...(open.length > 0
      ? [{ weight: 1, words: `not cleared above the owner: ${open.map(({ layer }) => layer).join(', ')}` } as const]
      : []),
  ];
};

const proof: Record<Finding['strength'], Doubt[]> = {
  direct: [],
  derived: [{ weight: 1, words: 'the root is derived from several facts; no machine states it itself' }],
  circumstantial: [{ weight: 2, words: 'the evidence of the root is circumstantial: other explanations remain' }],
};
