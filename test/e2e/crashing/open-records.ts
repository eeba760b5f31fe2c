import type { IncidentStore, Outbox, Records } from '../../../src/incidents/ports.ts';
import * as real from '../../../src/storage/open-records.ts';
import { crashAt, noteReceived } from './crash.ts';

export const openRecords: typeof real.openRecords = async (options) => {
  const opened = await real.openRecords(options);
  return { ...opened, records: crashing(opened.records) };
};

interface Change {
  what: string;
  incidentId: string;
}

const crashing = (records: Records): Records => ({
  ...records,
  outbox: crashingOutbox(records.outbox),
  async transaction(work) {
    const changes: Change[] = [];
    const result = await records.transaction(async ({ store, outbox }) => {
      const answer = await work({ store: noting(store, changes), outbox });
      for (const { what, incidentId } of changes) crashAt(`before ${what} is committed`, incidentId);
      return answer;
    });
    for (const { what, incidentId } of changes) crashAt(`after ${what} is committed`, incidentId);
    return result;
  },
});

/** A store that notes which changes a transaction makes. */
const noting = (store: IncidentStore, changes: Change[]): IncidentStore => {
  const noted: Partial<IncidentStore> = {
    async recordNotification(notification) {
      const outcomes = await store.recordNotification(notification);
      noteReceived(outcomes.map(({ incidentId }) => incidentId));
      for (const { incidentId } of outcomes) changes.push({ what: 'the alert', incidentId });
      return outcomes;
    },
    async saveReading(incidentId, run, facts, reading) {
      await store.saveReading(incidentId, run, facts, reading);
      changes.push({ what: `what ${facts.layer} read`, incidentId });
    },
    async saveVerdict(incidentId, ...rest) {
      await store.saveVerdict(incidentId, ...rest);
      changes.push({ what: 'the verdict', incidentId });
    },
  };
  return new Proxy(store, {
    get(target, name) {
      const value = noted[name as keyof IncidentStore] ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
};

const crashingOutbox = (outbox: Outbox): Outbox => ({
  plan: (...args) => outbox.plan(...args),
  claim: (...args) => outbox.claim(...args),
  thread: (...args) => outbox.thread(...args),
  depth: () => outbox.depth(),
  async settle(row, ...rest) {
    await outbox.settle(row, ...rest);
    crashAt(`after ${row.slot} is settled`, row.incidentId);
  },
});
