import type { Evidence } from '../../src/domain/evidence.ts';
import type { LayerFacts } from '../../src/domain/facts.ts';
import type { Layer } from '../../src/domain/layer.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { IncidentView } from '../../src/domain/view.ts';
import { startOutboxPump } from '../../src/incidents/outbox-pump.ts';
import type { Records, TriageSteps } from '../../src/incidents/ports.ts';
import { startRelay } from '../../src/incidents/relay.ts';
import type { Silencer } from '../../src/incidents/silences.ts';
import { createIncidents } from '../../src/incidents/use-cases.ts';
import { createQueue, type QueueOptions } from '../../src/queue/triage-queue.ts';
import { facts, routing, verdict } from './samples.ts';
import { Workspace } from './workspace.ts';

/** Triage steps that a test steers; what they answer is small, what they are given is real. */
export const steerableSteps = () => {
  const collected: string[] = [];
  const judged: LayerFacts[][] = [];
  const steps: TriageSteps & { collected: string[]; judged: LayerFacts[][] } = {
    collected,
    judged,
    async collectLayer(_incident, _alerts, layer) {
      collected.push(layer);
      return facts(layer);
    },
    observe: (): Evidence[] => [],
    judge(_record, all): Verdict {
      judged.push(all);
      return verdict('app');
    },
    route: (_record, _facts, { owner }) => routing(owner),
    escalate: (_record, _facts, { owner }) => ({
      audience: owner as Layer,
      title: `For ${owner}`,
      body: '',
      incomplete: [],
    }),
    handOff: (_record, _facts, _verdict, to) =>
      to === 'nobody' ? null : { to: 'platform', routing: { ...routing('platform'), party: to }, escalation: null },
    presentation: () => ({ mode: 'observe', channel: 'alerts', pageUrl: null }),
    renderThread: render,
    renderWithdrawn: ({ incident }, slot) => ({ slot, text: `withdrawn by run ${incident.run}`, blocks: [] }),
    // The real one finds secrets; this one knows the only one there is.
    redact: async (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[redacted]')),
  };
  return steps;
};

const render = ({ incident, verdict, formerOwner, alerts }: IncidentView) => {
  const { progress, status, acknowledgedBy, run } = incident;
  const layers = `cloud ${progress.cloud}, platform ${progress.platform}, app ${progress.app}`;
  const root = [status, `${alerts.length} alerts`, verdict?.owner ?? layers, acknowledgedBy && `ack ${acknowledgedBy}`];
  const message = (slot: string, text: string) => ({ slot, text, blocks: [{ type: 'section', text }] });
  return [
    message('root', root.filter(Boolean).join('; ')),
    ...(verdict ? [message('verdict', verdict.cause.en)] : []),
    ...(verdict?.owner === 'platform' ? [message('layer-platform', 'evidence of the platform')] : []),
    ...(formerOwner ? [message(`owner-change-${run}`, `${formerOwner} → ${verdict?.owner}`)] : []),
  ];
};

/** An install in one process, wired as the composition root does it. */
export async function startInstall(
  records: Records,
  backend: QueueOptions['backend'],
  steps: TriageSteps,
  workspace = new Workspace(),
  silencer: Silencer | null = null,
) {
  const refusedSilences: string[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const now = () => new Date().toISOString();
  const incidents = createIncidents({
    records,
    steps,
    now,
    silencers: { silencerOf: () => silencer, onFailure: ({ message }) => void refusedSilences.push(message) },
  });
  const queue = await createQueue({ backend, lockMs: 1_000, backoffMs: 10, onError: () => {} });
  const relay = startRelay({ store: records.store, queue, giveUp: incidents.giveUp, now, pollMs: 200, onError });
  const pump = startOutboxPump({ outbox: records.outbox, sender: workspace, now, pollMs: 200, onError });
  const unlisten = await records.listen(({ topic }) => (topic === 'run' ? relay : pump).wake());
  return {
    incidents,
    workspace,
    errors,
    refusedSilences,
    queue,
    work: () => queue.work({ layer: incidents.readLayer, verdict: incidents.judge }, 3),
    async stop() {
      await unlisten();
      await relay.stop();
      await queue.close();
      await pump.stop();
    },
  };
}
