import { describe, expect, it } from 'vitest';
import { advance, type KnownIncident } from '../../src/incidents/lifecycle.ts';
import type { CorrelatedAlert } from '../../src/incidents/ports.ts';
import { alert, minute } from './samples.ts';

const idOf = ({ fingerprint, startsAt }: { fingerprint: string; startsAt: string }) => `${fingerprint}@${startsAt}`;

/** Applies notifications one after the other, as the store does, and answers the changes. */
const play = (...notifications: [number, CorrelatedAlert[]][]) => {
  let incident: KnownIncident | null = null;
  const changes = notifications.map(([at, alerts]) => {
    const next = advance(incident, alerts, idOf, minute(at));
    const known = new Map((incident?.alerts ?? []).map((one) => [one.id, one]));
    for (const changed of next.changed) known.set(changed.id, changed);
    incident = { status: next.status, severity: next.severity, alerts: [...known.values()] };
    return next.change;
  });
  return { changes, incident: incident! as KnownIncident };
};

describe('alert lifecycle', () => {
  it('takes the worst severity that fired', () => {
    const { incident } = play(
      [0, [alert({ severity: 'warning' })]],
      [1, [alert({ fingerprint: 'b', severity: 'critical' })]],
      [2, [alert({ fingerprint: 'c', severity: 'info' })]],
    );
    expect(incident.severity).toBe('critical');
  });

  it('takes a firing alert right after its resolve for an echo of another replica, and later for a re-fire', () => {
    const firing = alert();
    const resolved = alert({ status: 'resolved' });
    expect(play([0, [firing]], [5, [resolved]], [6, [firing]]).changes).toEqual(['opened', 'resolved', 'unchanged']);
    expect(play([0, [firing]], [5, [resolved]], [11, [firing]]).changes).toEqual(['opened', 'resolved', 'refired']);
  });

  it('takes a new start for a re-fire at once', () => {
    const { changes } = play(
      [0, [alert()]],
      [5, [alert({ status: 'resolved' })]],
      [6, [alert({ startsAt: minute(6) })]],
    );
    expect(changes).toEqual(['opened', 'resolved', 'refired']);
  });

  it('resolves an alert whose start is not the one that fired', () => {
    const { changes } = play(
      [1, [alert({ startsAt: minute(1) })]],
      [5, [alert({ status: 'resolved', startsAt: minute(0) })]],
    );
    expect(changes).toEqual(['opened', 'resolved']);
  });

  it('does not let a late resolve of the former outbreak end the present one', () => {
    const { changes, incident } = play(
      [0, [alert()]],
      [7, [alert({ startsAt: minute(6) })]],
      [8, [alert({ status: 'resolved', endsAt: minute(5) })]],
    );
    expect(changes).toEqual(['opened', 'joined', 'unchanged']);
    expect(incident.status).toBe('open');
  });

  it('ends the former outbreak when its resolve was never sent', () => {
    const { incident } = play([0, [alert()]], [7, [alert({ startsAt: minute(6) })]]);
    expect(incident.alerts.map(({ status, alert }) => [status, alert.endsAt])).toEqual([
      ['resolved', minute(6)],
      ['firing', '0001-01-01T00:00:00Z'],
    ]);
  });

  it('ignores an older outbreak that is told late', () => {
    expect(play([7, [alert({ startsAt: minute(6) })]], [8, [alert()]]).changes).toEqual(['opened', 'unchanged']);
  });

  it('stays open when one body holds the end of one outbreak and the start of the next', () => {
    const { changes } = play([0, [alert()]], [6, [alert({ status: 'resolved' }), alert({ startsAt: minute(6) })]]);
    expect(changes).toEqual(['opened', 'joined']);
  });
});
