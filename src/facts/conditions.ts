import type { Condition, KubeObject } from '../domain/kubernetes.ts';

export const conditionsOf = (object: KubeObject | undefined): Condition[] => object?.status?.conditions ?? [];

export const condition = (object: KubeObject | undefined, type: string): Condition | undefined =>
  conditionsOf(object).find((entry) => entry.type === type);

export const isTrue = (object: KubeObject | undefined, type: string): boolean =>
  condition(object, type)?.status === 'True';

/** A condition that is present and not True. */
export const isNotTrue = (object: KubeObject | undefined, type: string): boolean => {
  const found = condition(object, type);
  return found !== undefined && found.status !== 'True';
};

export const isFalse = (object: KubeObject | undefined, type: string): boolean =>
  condition(object, type)?.status === 'False';
