import { createHash } from 'node:crypto';
import type { Subject } from '../domain/alert.ts';
import type { IncomingNotification } from '../incidents/ports.ts';
import { correlateAlert } from './correlate.ts';
import { labelsOf } from './subject.ts';

/** Name of the alert that stands for a person's question. */
export const onDemandAlert = 'TriageOnDemand';

/** A person's question about an object as a notification, so that it becomes an incident like any other. */
export const onDemand = (subject: Subject, actor: string, now: string): IncomingNotification => {
  const labels = { ...labelsOf(subject), alertname: onDemandAlert, severity: 'none' };
  const fingerprint = createHash('sha256').update(JSON.stringify(labels)).digest('hex').slice(0, 16);
  const alert = {
    status: 'firing' as const,
    labels,
    annotations: { summary: `asked for by ${actor}` },
    startsAt: now,
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint,
  };
  return {
    receivedAt: now,
    receiver: 'faultline',
    groupKey: onDemandAlert,
    externalURL: '',
    truncatedAlerts: 0,
    alerts: [{ ...correlateAlert(alert, subject.cluster), subject }],
    rejected: [],
  };
};
