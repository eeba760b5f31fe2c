/** Kubernetes label selectors: `matchLabels` and `matchExpressions`. An empty selector selects everything. */
export const selects = (selector: any, labels: Record<string, string> = {}): boolean => {
  const equal = Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return equal && (selector?.matchExpressions ?? []).every((entry: any) => matches(entry, labels[entry.key]));
};

/** One requirement of a selector or of node affinity, with the operators of both. */
export const matches = (requirement: { operator: string; values?: string[] }, value: string | undefined): boolean => {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
};

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export const tolerates = (tolerations: Toleration[] | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some(
    (toleration) =>
      (!toleration.effect || toleration.effect === taint.effect) &&
      (toleration.operator === 'Exists'
        ? !toleration.key || toleration.key === taint.key
        : toleration.key === taint.key && (toleration.value ?? '') === (taint.value ?? '')),
  );
