/** A worker process that reads the cloud layer and then hangs in the platform layer, until it is killed. */
import { createQueue } from '../../src/queue/triage-queue.ts';
import { openPlace } from './backends.ts';

const { settings, incidentId } = JSON.parse(process.argv[2]!);
const { backend } = await openPlace(settings);
const queue = await createQueue({ backend, lockMs: 1_000, onError: () => {} });
await queue.addTriage(incidentId, 1);
queue.work(
  {
    async layer(_incidentId, _run, layer) {
      console.log(layer);
      if (layer === 'platform') await new Promise(() => {});
    },
    verdict: async () => {},
  },
  1,
);
