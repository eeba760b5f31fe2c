import type { Act, Refusal } from '../domain/act.ts';
import type { LayerFacts } from '../domain/facts.ts';
import type { Layer } from '../domain/layer.ts';
import type { IncidentRecord, LayerReading } from '../domain/view.ts';
import { gapsOf } from '../triage/collect/gaps.ts';
import type { HandOffRequest } from './hand-off-request.ts';
import type { IncidentOutcome, IncomingNotification, Records, Stores, TriageSteps } from './ports.ts';
import { createSilencing, type SilencingDeps } from './silencing.ts';

export interface IncidentDeps {
  records: Records;
  steps: TriageSteps;
  /** ISO 8601. */
  now: () => string;
  /** The Alertmanager of a cluster, and who is told what it refused. */
  silencers: Pick<SilencingDeps, 'silencerOf' | 'onFailure'>;
}

/**
 * What can happen to an incident. Each changes the records and plans the messages that show it in one transaction;
 * jobs and sending follow from the rows.
 * @throws StorageUnavailable: nothing was stored, try again.
 */
export type Incidents = ReturnType<typeof createIncidents>;

export function createIncidents({ records, steps, now, silencers }: IncidentDeps) {
  const planThread = async ({ store, outbox }: Stores, incidentId: string): Promise<void> => {
    const record = await store.record(incidentId);
    if (!record) return;
    const { mode, channel, pageUrl } = steps.presentation(record.incident);
    const view = { ...record, mode, channel, pageUrl };
    const messages = steps.renderThread(view);
    const slots = new Set(messages.map((message) => message.slot));
    // Edits notify nobody, so a changed owner is told by replies that stay.
    const stale = (await outbox.thread(incidentId)).filter(
      ({ slot, ts }) => ts !== null && !slots.has(slot) && !/^(owner-change|hand-off)/.test(slot),
    );
    const withdrawn = stale.map(({ slot }) => steps.renderWithdrawn(view, slot));
    await outbox.plan(incidentId, channel, [...messages, ...withdrawn]);
  };

  /** Changes the records and shows the change, or does neither; false: there was nothing to change. */
  const change = (incidentId: string, work: (stores: Stores) => Promise<unknown>): Promise<boolean> =>
    records.transaction(async (stores) => {
      if ((await work(stores)) === false) return false;
      await planThread(stores, incidentId);
      return true;
    });

  const perform = async (incidentId: string, act: Act, actor: string): Promise<Refusal | null> => {
    let refusal: Refusal | null = null;
    await change(incidentId, async ({ store }) => {
      refusal = await store.perform(incidentId, act, actor, now());
      return refusal === null;
    });
    return refusal;
  };

  const receive = async (notification: IncomingNotification): Promise<IncidentOutcome[]> => {
    const clean = await redactNotification(notification, steps);
    return records.transaction(async (stores) => {
      const outcomes = await stores.store.recordNotification(clean);
      for (const { incidentId, change } of outcomes) if (change !== 'unchanged') await planThread(stores, incidentId);
      return outcomes;
    });
  };

  return {
    /** Records a notification; when it resolves, nothing of it can be lost. */
    receive,

    /** The job of one layer: reads its sources and keeps what they said. A layer that was read is not read again. */
    async readLayer(incidentId: string, run: number, layer: Layer): Promise<void> {
      const record = await records.store.record(incidentId);
      if (!record || isRead(record, run, layer)) return;
      await change(incidentId, ({ store }) => store.setProgress(incidentId, run, layer, 'reading'));
      try {
        const facts = await steps.redact(await steps.collectLayer(record.incident, record.alerts, layer));
        const reading = readingOf(facts, record, steps);
        await change(incidentId, ({ store }) => store.saveReading(incidentId, run, facts, reading));
      } catch (error) {
        await change(incidentId, ({ store }) => store.setProgress(incidentId, run, layer, 'failed'));
        throw error;
      }
    },

    /** The last job of a run: judges all that was ever read of the incident. */
    async judge(incidentId: string, run: number): Promise<void> {
      const record = await records.store.record(incidentId);
      if (!record) return;
      const facts = await records.store.facts(incidentId);
      const verdict = steps.judge(record, facts);
      const routing = await steps.route(record, facts, verdict);
      const escalation = await steps.escalate(record, facts, verdict, routing);
      await change(incidentId, ({ store }) => store.saveVerdict(incidentId, run, verdict, routing, escalation, now()));
    },

    /** Null: it is done, and shown. */
    async act(incidentId: string, act: Act, actor: string): Promise<Refusal | null> {
      const clean = await steps.redact(act);
      return perform(incidentId, clean, actor);
    },

    /** Sends the incident to a layer's owner or to a team of the directory, with the escalation that one needs. */
    async handOff(incidentId: string, { to, why, corrects }: HandOffRequest, actor: string): Promise<Refusal | null> {
      const record = await records.store.record(incidentId);
      if (!record) return 'unknown';
      if (!record.verdict) return 'noVerdict';
      const destination = steps.handOff(record, await records.store.facts(incidentId), record.verdict, to);
      if (!destination) return 'noTeam';
      const handOff = { ...destination, why: await steps.redact(why), corrects };
      return perform(incidentId, { action: 'hand-off', handOff }, actor);
    },

    /** False: a run is under way. What former runs read stays and is judged too. */
    rerun: (incidentId: string, actor: string): Promise<boolean> =>
      change(incidentId, ({ store }) => store.requestRun(incidentId, actor, now())),

    /** A person's question about an object: a new incident, or another run of the one that is open. */
    async triage(question: IncomingNotification, actor: string): Promise<string> {
      const [outcome] = await receive(question);
      if (!outcome) throw new Error('a question about an object opens an incident');
      const { incidentId } = outcome;
      if (outcome.change !== 'opened' && outcome.change !== 'refired')
        await change(incidentId, ({ store }) => store.requestRun(incidentId, actor, now()));
      return incidentId;
    },

    ...createSilencing({ ...silencers, records, redact: steps.redact, planThread, now }),

    /** Ends a run whose jobs failed for good; a person may start another. */
    async giveUp(incidentId: string, run: number, reason: string): Promise<void> {
      await change(incidentId, ({ store }) => store.failRun(incidentId, run, reason, now()));
    },

    /** Renders the thread anew, as after a change of templates, language or configuration. */
    async refresh(incidentId: string): Promise<void> {
      await records.transaction((stores) => planThread(stores, incidentId));
    },
  };
}

const isRead = ({ incident, readings }: IncidentRecord, run: number, layer: Layer): boolean =>
  incident.run === run && readings[layer] !== undefined;

const readingOf = (facts: LayerFacts, record: IncidentRecord, steps: TriageSteps): LayerReading => ({
  layer: facts.layer,
  readAt: facts.readAt,
  apiCalls: facts.apiCalls,
  gaps: gapsOf(facts),
  observations: steps.observe(record, facts),
});

/** Everything but the keys that tell alerts apart, of which only digests are stored. */
async function redactNotification(
  notification: IncomingNotification,
  steps: TriageSteps,
): Promise<IncomingNotification> {
  const { alerts, rejected, externalURL } = notification;
  const clean = await steps.redact({
    alerts: alerts.map(({ correlationKey, ...shown }) => shown),
    rejected,
    externalURL,
  });
  return {
    ...notification,
    ...clean,
    alerts: clean.alerts.map((shown, i) => ({ ...shown, correlationKey: alerts[i]!.correlationKey })),
  };
}
