import type { Refusal } from '../domain/act.ts';
import type { Breadth } from '../domain/silence.ts';
import type { IncidentRecord } from '../domain/view.ts';
import type { Records, Stores, TriageSteps } from './ports.ts';
import { markOf, matchersFor, type SilenceFailure, type Silencer, sameMatchers } from './silences.ts';

export interface SilenceRequest {
  durationMs: number;
  reason: string;
  breadth: Breadth;
}

export interface SilencingDeps {
  records: Records;
  /** The Alertmanager of an incident's cluster; null where none is configured. */
  silencerOf(cluster: string): Silencer | null;
  redact: TriageSteps['redact'];
  planThread(stores: Stores, incidentId: string): Promise<void>;
  /** ISO 8601. */
  now(): string;
  /** Told what Alertmanager said, which the person only learns in short. */
  onFailure(failure: SilenceFailure): void;
}

const asRefusal = ({ kind }: SilenceFailure): Refusal =>
  kind === 'retry' ? 'alertmanagerAway' : 'alertmanagerRefuses';

/**
 * Silences an incident's alerts in Alertmanager, extends what is silenced, and ends it. Alertmanager comes first: what
 * it took and we did not record, because we died between, is found again by the mark in its comment.
 */
export const createSilencing = (deps: SilencingDeps) => {
  const { records, silencerOf, planThread, now } = deps;

  const inForce = ({ silences }: IncidentRecord) => silences.filter(({ endsAt }) => endsAt > now());

  const fail = (failure: SilenceFailure): Refusal => {
    deps.onFailure(failure);
    return asRefusal(failure);
  };

  return {
    /** Null: every firing alert of the incident is silenced until then. */
    async silence(incidentId: string, request: SilenceRequest, actor: string): Promise<Refusal | null> {
      const record = await records.store.record(incidentId);
      if (!record) return 'unknown';
      const silencer = silencerOf(record.incident.cluster);
      if (!silencer) return 'noAlertmanager';
      const firing = record.alerts.filter((alert) => alert.status === 'firing');
      if (firing.length === 0) return 'nothingFires';
      const mark = markOf(incidentId);
      const marked = await silencer.marked(mark);
      if (!marked.ok) return fail(marked.failure);
      const reason = await deps.redact(request.reason);
      for (const matchers of matchersFor(firing, request.breadth)) {
        const former = marked.value.find((silence) => sameMatchers(silence.matchers, matchers));
        const startsAt = now();
        const endsAt = new Date(Date.parse(startsAt) + request.durationMs).toISOString();
        const silence = { matchers, startsAt: former?.startsAt ?? startsAt, endsAt, by: actor };
        const put = await silencer.put({ ...silence, id: former?.id ?? null, reason: `${reason} ${mark}` });
        if (!put.ok) return fail(put.failure);
        await records.transaction(async (stores) => {
          const kept = { ...silence, id: put.value, reason };
          await stores.store.saveSilence(incidentId, kept, former?.id ?? null, startsAt);
          await planThread(stores, incidentId);
        });
      }
      return null;
    },

    /** Null: nothing of the incident is silenced any more. */
    async unsilence(incidentId: string, actor: string): Promise<Refusal | null> {
      const record = await records.store.record(incidentId);
      if (!record) return 'unknown';
      const silencer = silencerOf(record.incident.cluster);
      if (!silencer) return 'noAlertmanager';
      const silences = inForce(record);
      if (silences.length === 0) return 'notSilenced';
      for (const { id } of silences) {
        const ended = await silencer.expire(id);
        if (!ended.ok) return fail(ended.failure);
      }
      const ids = silences.map(({ id }) => id);
      await records.transaction(async (stores) => {
        await stores.store.endSilences(incidentId, ids, actor, now());
        await planThread(stores, incidentId);
      });
      return null;
    },
  };
};
