import * as real from '../../../src/triage-steps.ts';
import { crashAt } from './crash.ts';

export const explainWith = real.explainWith;

export const triageSteps: typeof real.triageSteps = (options) => {
  const steps = real.triageSteps(options);
  return {
    ...steps,
    async collectLayer(incident, alerts, layer) {
      crashAt(`before ${layer} reads`, incident.id);
      const facts = await steps.collectLayer(incident, alerts, layer);
      crashAt(`after ${layer} has read`, incident.id);
      return facts;
    },
  };
};
