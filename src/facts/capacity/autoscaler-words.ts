/** `group ‹g› …` of the autoscaler's own events, `in zones ‹z› …` of GKE's event on the pod. */
export const groupIn = (message: string): string =>
  groupName(
    (/(?:group|instance group|node pool) (https?:\/\/[^\s:,]+|[^\s:,]+)/.exec(message) ??
      /zones? ([a-z0-9-, ]+?) (?:associated|failed)/.exec(message))?.[1] ?? '',
  );

/** GKE names a group by its URL: the zone and the group's own name are what people know. */
export const groupName = (name: string): string => name.replace(/^https?:.*\/zones\/([^/]+)\/instanceGroups\//, '$1/');

/** `2026-11-19 12:10:00.117 +0000 UTC`, as Go prints a time. */
export const isoTime = (time: unknown): string =>
  typeof time === 'string' ? time.replace(/^(\S+) ([\d:]+)(?:\.\d+)? \+0000 UTC.*$/, '$1T$2Z') : '';
