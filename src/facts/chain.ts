import type { ChainLink } from '../domain/finding.ts';
import { describeRef, type KubeObject, refOf } from '../domain/kubernetes.ts';

/** One link of a causal chain, root first. */
export const link = (object: KubeObject, claim: string): ChainLink => ({
  object: describeRef(refOf(object)),
  uid: object.metadata.uid,
  claim,
});

export const nameOf = (object: KubeObject): string => describeRef(refOf(object));

/** Groups in the order of first appearance. */
export const groupBy = <T>(list: T[], key: (item: T) => string): T[][] => {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return [...groups.values()];
};
