import type { AddressInfo } from 'node:net';
import { loadConfig } from '../../src/config/load.ts';
import type { Act } from '../../src/domain/act.ts';
import type { Incident } from '../../src/domain/incident.ts';
import type { OutboxRow } from '../../src/domain/message.ts';
import type { Reasoning } from '../../src/domain/reasoning.ts';
import type { IncidentView } from '../../src/domain/view.ts';
import type { HandlerDeps } from '../../src/http/deps.ts';
import { loadRoutes } from '../../src/http/load-routes.ts';
import { createServer } from '../../src/http/server.ts';
import { loadMessages } from '../../src/slack/messages.ts';
import { renderThread } from '../../src/slack/render/thread.ts';

const messages = loadMessages(new URL('../../templates/messages', import.meta.url).pathname, 'en');

const rowsOf = (view: IncidentView): OutboxRow[] =>
  renderThread(view, messages).map((message, index) => ({
    ...message,
    id: `${view.incident.id}-${message.slot}`,
    incidentId: view.incident.id,
    revision: 1,
    state: 'sent',
    channel: 'C1',
    ts: `1795160000.00000${index}`,
    threadTs: index === 0 ? null : '1795160000.000000',
    attempts: 1,
    attemptedAt: null,
    uncertainSince: null,
    lastError: null,
  }));

export interface ConsoleServer {
  url: string;
  views: Map<string, IncidentView>;
  /** What was asked of the use cases. */
  acts: string[];
  change(incidentId: string, view: IncidentView): void;
  close(): Promise<void>;
}

/** The console's real routes over views in memory. */
export const startConsole = async (
  views: IncidentView[],
  reasoning: Reasoning | null = null,
): Promise<ConsoleServer> => {
  const byId = new Map(views.map((view) => [view.incident.id, view]));
  const listeners = new Set<(incidentId: string) => void>();
  const acts: string[] = [];
  const loaded = loadConfig({});
  if (!loaded.ok) throw new Error('the defaults are a valid configuration');
  const act = (name: string) => async (incidentId: string, actor: string) => {
    acts.push(`${name} ${incidentId} by ${actor}`);
    return true;
  };
  const deps = {
    config: loaded.config,
    now: () => '2026-11-20T08:40:00Z',
    store: {
      list: async (limit: number): Promise<Incident[]> =>
        [...byId.values()].map((view) => view.incident).slice(0, limit),
    },
    outbox: { thread: async (id: string) => (byId.has(id) ? rowsOf(byId.get(id)!) : []) },
    view: async (id: string) => byId.get(id) ?? null,
    reasoning: async () => reasoning,
    act: async (incidentId: string, { action }: Act, actor: string) => {
      acts.push(`${action} ${incidentId} by ${actor}`);
      return null;
    },
    rerun: act('rerun'),
    onChange: (listener: (incidentId: string) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as HandlerDeps;
  const server = createServer(
    deps,
    (await loadRoutes()).filter((route) => route.auth === 'loopback'),
  );
  await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    views: byId,
    acts,
    change(incidentId, view) {
      byId.set(incidentId, view);
      for (const listener of listeners) listener(incidentId);
    },
    close: () => server.close(),
  };
};
