import type { Alert } from '../domain/alert.ts';
import type { IncidentStatus, Severity } from '../domain/incident.ts';
import type { CorrelatedAlert, IncidentChange } from './ports.ts';

/**
 * Alertmanager retries a flush until the next group_interval (5 minutes by default), and its replicas send the same one.
 * A firing alert that comes within this time after it resolved, with the start it had before, is such an echo.
 */
export const echoMs = 5 * 60_000;

/** An alert that fires again within this time after its incident resolved belongs to the same incident. */
export const reopenMs = 24 * 60 * 60_000;

export interface KnownAlert {
  id: string;
  fingerprint: string;
  status: Alert['status'];
  alert: Alert;
  changedAt: string;
}

export interface KnownIncident {
  status: IncidentStatus;
  severity: Severity;
  /** Those that fire, and those that the notification speaks of. */
  alerts: KnownAlert[];
}

export interface Lifecycle {
  change: IncidentChange;
  status: IncidentStatus;
  severity: Severity;
  /** Alerts that are new or have changed. */
  changed: KnownAlert[];
}

const ranks: Severity[] = ['none', 'info', 'warning', 'critical'];

const worse = (one: Severity, other: Severity): Severity => (ranks.indexOf(one) >= ranks.indexOf(other) ? one : other);

/** Whether an incident of the key that was resolved then takes an alert that fires now. */
export const reopens = (resolvedAt: string, now: string): boolean =>
  Date.parse(now) - Date.parse(resolvedAt) <= reopenMs;

/**
 * What one notification's alerts make of an incident; `incident` null: of a new one. Pure, and idempotent: what it
 * answers, applied, makes the same notification `unchanged`.
 */
export function advance(
  incident: KnownIncident | null,
  incoming: CorrelatedAlert[],
  idOf: (alert: Alert) => string,
  now: string,
): Lifecycle {
  const book = new AlertBook(incident?.alerts ?? [], now);
  let severity = incident?.severity ?? 'none';
  let resolvedSome = false;
  for (const { alert, severity: alertSeverity } of incoming) {
    const id = idOf(alert);
    if (alert.status === 'resolved') {
      resolvedSome = book.resolve(id, alert) || resolvedSome;
    } else if (book.fire(id, alert)) {
      severity = worse(severity, alertSeverity);
    }
  }
  const changed = book.changed();
  const fires = book.fires();
  const startedSome = changed.some((alert) => alert.status === 'firing');
  const change = nameOf(incident?.status ?? null, fires, startedSome, resolvedSome);
  return {
    change,
    // One that a person closed stays closed while its alerts go on firing, until one starts anew.
    status: incident?.status === 'resolved' && change === 'unchanged' ? 'resolved' : fires ? 'open' : 'resolved',
    severity,
    changed,
  };
}

/** The alerts of one incident while a notification is applied. */
class AlertBook {
  readonly #alerts: Map<string, KnownAlert>;
  readonly #firing = new Map<string, Set<string>>();
  readonly #changed = new Set<string>();
  readonly #now: string;

  constructor(known: KnownAlert[], now: string) {
    this.#alerts = new Map(known.map((alert) => [alert.id, alert]));
    this.#now = now;
    for (const { id, fingerprint, status } of known) if (status === 'firing') this.#firingOf(fingerprint).add(id);
  }

  /** Whether it ended one that fired. */
  resolve(id: string, alert: Alert): boolean {
    // The start may differ from the one that fired (merged by Alertmanager, or lost in its restart): it is over all the same.
    const ended = this.#firingOf(alert.fingerprint)
      .values()
      .filter((other) => other === id || !startsAfter(this.#alerts.get(other)!.alert.startsAt, alert.endsAt))
      .toArray();
    for (const other of ended)
      this.#set(other, { ...this.#alerts.get(other)!.alert, endsAt: alert.endsAt }, 'resolved');
    if (this.#alerts.get(id)?.status !== 'resolved') this.#set(id, alert, 'resolved');
    return ended.length > 0;
  }

  /** Whether it is news, and not a repetition or an echo. */
  fire(id: string, alert: Alert): boolean {
    const known = this.#alerts.get(id);
    if (known?.status === 'firing') return false;
    if (known && Date.parse(this.#now) - Date.parse(known.changedAt) <= echoMs) return false;
    const others = [...this.#firingOf(alert.fingerprint)];
    if (others.some((other) => startsAfter(this.#alerts.get(other)!.alert.startsAt, alert.startsAt))) return false;
    // The same alert with a new start: its resolve was never sent.
    for (const other of others)
      this.#set(other, { ...this.#alerts.get(other)!.alert, endsAt: alert.startsAt }, 'resolved');
    this.#set(id, alert, 'firing');
    return true;
  }

  fires(): boolean {
    return this.#firing.values().some((ids) => ids.size > 0);
  }

  changed(): KnownAlert[] {
    return [...this.#changed].map((id) => this.#alerts.get(id)!);
  }

  #set(id: string, alert: Alert, status: Alert['status']): void {
    const { fingerprint } = alert;
    this.#alerts.set(id, { id, fingerprint, status, alert: { ...alert, status }, changedAt: this.#now });
    this.#changed.add(id);
    if (status === 'firing') this.#firingOf(fingerprint).add(id);
    else this.#firingOf(fingerprint).delete(id);
  }

  #firingOf(fingerprint: string): Set<string> {
    const ids = this.#firing.get(fingerprint) ?? new Set();
    this.#firing.set(fingerprint, ids);
    return ids;
  }
}

const startsAfter = (start: string, time: string): boolean => Date.parse(start) > Date.parse(time);

function nameOf(
  before: IncidentStatus | null,
  fires: boolean,
  startedSome: boolean,
  resolvedSome: boolean,
): IncidentChange {
  if (before === null) return fires ? 'opened' : 'unchanged';
  if (before === 'resolved') return startedSome ? 'refired' : 'unchanged';
  if (!fires) return 'resolved';
  if (startedSome) return 'joined';
  return resolvedSome ? 'partly-resolved' : 'unchanged';
}
