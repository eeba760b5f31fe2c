import type { IncidentView } from '../domain/view.ts';
import type { IncidentStore } from '../incidents/ports.ts';
import type { ListEntry } from './pages.ts';

/** Newest incidents that the list shows. */
const listLimit = 60;

export const listEntries = async (
  store: IncidentStore,
  view: (incidentId: string) => Promise<IncidentView | null>,
): Promise<ListEntry[]> => {
  const incidents = await store.list(listLimit);
  return Promise.all(
    incidents.map(async (incident) => {
      const verdict = (await view(incident.id))?.verdict ?? null;
      if (!verdict) return { incident, owner: null, confidence: null };
      const settled = verdict.state !== 'fault';
      return {
        incident,
        owner: settled ? verdict.state : verdict.owner,
        confidence: settled ? null : verdict.confidence,
      };
    }),
  );
};
