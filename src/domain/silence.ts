/** One condition on a label of an alert; a regex is anchored at both ends (prometheus.io/docs/alerting/latest/configuration/#matcher). */
export interface Matcher {
  name: string;
  value: string;
  isRegex: boolean;
}

/** How much is silenced: the alerts of the incident, or all of their names in their namespace. */
export const breadths = ['alerts', 'group'] as const;
export type Breadth = (typeof breadths)[number];

/** A silence in Alertmanager that was asked for from an incident. */
export interface Silence {
  /** Alertmanager's. */
  id: string;
  matchers: Matcher[];
  /** ISO 8601. */
  startsAt: string;
  endsAt: string;
  by: string;
  reason: string;
}
