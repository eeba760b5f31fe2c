/** One `‹count› ‹reason›` of the scheduler's histogram. */
export interface SchedulerClause {
  count: number;
  reason: string;
  /** Key of the taint, where the version still prints it (up to v1.34.1). */
  taint?: string;
}

export interface SchedulerRefusal {
  nodes: number;
  clauses: SchedulerClause[];
}

/**
 * Parses `0/‹N› nodes are available: ‹c› ‹reason›, …` up to the PostFilter part. A PreFilter refusal has no
 * histogram: it becomes one clause over all nodes. Null for anything else.
 */
export const parseSchedulerRefusal = (message: string): SchedulerRefusal | null => {
  if (message.startsWith('no nodes available to schedule pods')) return { nodes: 0, clauses: [] };
  const match = /^0\/(\d+) nodes are available: ?(.*)$/s.exec(message);
  if (!match) return null;
  const nodes = Number(match[1]);
  const body = match[2]!.split(/\.? (?:preemption:|no new claims|still not schedulable)/)[0]!.replace(/\.\s*$/, '');
  const parts = body.split(/, (?=\d+ )/);
  const clauses = parts.map((part): SchedulerClause => {
    const counted = /^(\d+) (.*)$/s.exec(part);
    const reason = counted ? counted[2]! : part;
    return {
      count: counted ? Number(counted[1]) : nodes,
      reason,
      taint: /untolerated taint \{([^:}]+)/.exec(reason)?.[1],
    };
  });
  return { nodes, clauses: clauses.filter((clause) => clause.reason !== '') };
};

export type PoolRefusalKind =
  | 'limits'
  | 'taint'
  | 'unknown-label'
  | 'requirement'
  | 'offering'
  | 'resources'
  | 'topology'
  | 'volume'
  | 'min-values'
  | 'filtered'
  | 'other';

/** What Karpenter says of one NodePool; `pool` is undefined where the version names none. */
export interface PoolRefusal {
  pool?: string;
  kind: PoolRefusalKind;
  text: string;
  /** Label key of an `unknown-label`, `requirement` or `topology` refusal. */
  key?: string;
}

const prefix = 'Failed to schedule pod, ';

/** Splits Karpenter's FailedScheduling message into one refusal per NodePool. Empty for other messages. */
export const parseKarpenterRefusal = (message: string): PoolRefusal[] =>
  message.startsWith(prefix)
    ? message
        .slice(prefix.length)
        .split(
          /; (?=incompatible with nodepool|all available instance types|did not tolerate|node limits|no instance type|incompatible requirements|nodepool requirements|unsatisfiable topology)/,
        )
        .map(poolRefusal)
    : [];

const poolRefusal = (text: string): PoolRefusal => {
  const pool = (/nodepool:? "([^"]+)"/.exec(text) ?? /\(NodePool=([^,)]+)/.exec(text))?.[1];
  const key = (/label "([^"]+)" does not have known values/.exec(text) ??
    /incompatible requirements, key ([^,]+),/.exec(text) ??
    /unsatisfiable topology constraint for [^,]+, key=([^ ,(]+)/.exec(text))?.[1];
  return { pool, kind: kindOf(text), text, key };
};

const kindOf = (text: string): PoolRefusalKind => {
  if (/exceed limits|breach limits|limits have been exhausted/.test(text)) return 'limits';
  if (/did not tolerate/.test(text)) return 'taint';
  if (/unsatisfiable topology/.test(text)) return 'topology';
  if (/does not have known values/.test(text)) return 'unknown-label';
  if (/incompatible requirements/.test(text)) return 'requirement';
  if (/minValues/.test(text)) return 'min-values';
  if (/volume|pvc/i.test(text)) return 'volume';
  if (/filtered out all/.test(text)) return 'filtered';
  if (/required offering|requirements\/resources\/offering/.test(text)) return 'offering';
  if (/enough resources/.test(text)) return 'resources';
  return 'other';
};
