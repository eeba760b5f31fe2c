import * as real from '../../../src/queue/triage-queue.ts';
import { crashAt } from './crash.ts';

export const createQueue: typeof real.createQueue = async (options) => {
  const queue = await real.createQueue(options);
  return {
    ...queue,
    async addTriage(incidentId, run) {
      crashAt('before the jobs are added', incidentId);
      const state = await queue.addTriage(incidentId, run);
      crashAt('after the jobs are added', incidentId);
      return state;
    },
  };
};
