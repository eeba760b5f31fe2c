import type { Incident, StoredAlert } from '../domain/incident.ts';
import type { Verdict } from '../domain/verdict.ts';

export interface Moment {
  at: string;
  /** Who says so: `onset`, `alert`, `Node ip-10-0-1-2`. */
  what: string;
  text: string;
}

const maxMoments = 14;

/** What happened when, oldest first: the evidence's own times, the onset, the alerts and the reading. */
export const timelineOf = (incident: Incident, alerts: StoredAlert[], verdict: Verdict, readAt: string): Moment[] => {
  const moments: Moment[] = [
    ...(verdict.onset ? [{ at: verdict.onset, what: 'onset', text: 'first sign of the fault' }] : []),
    ...alerts.map(({ startsAt, labels }) => ({
      at: startsAt,
      what: 'alert',
      text: `${labels.alertname ?? 'alert'} fired`,
    })),
    ...(alerts.length === 0 ? [{ at: incident.firedAt, what: 'alert', text: `${incident.title} fired` }] : []),
    ...verdict.evidence.flatMap(({ at, object, field, value, text }) =>
      at
        ? [
            {
              at,
              what: object,
              text: object.startsWith(field) ? value : [field, text || value].filter(Boolean).join(': '),
            },
          ]
        : [],
    ),
    { at: readAt, what: 'Faultline', text: 'evidence read' },
  ];
  const distinct = new Map(moments.map((moment) => [`${moment.at}/${moment.what}/${moment.text}`, moment]));
  const ordered = [...distinct.values()].sort((a, b) => toMs(a.at) - toMs(b.at));
  if (ordered.length <= maxMoments) return ordered;
  // The beginning tells the cause and the end tells the state; the middle is more of the same.
  const head = Math.ceil(maxMoments * 0.6);
  return [...ordered.slice(0, head), ...ordered.slice(ordered.length - (maxMoments - head))];
};

const toMs = (at: string): number => {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? 0 : ms;
};
