import type { ActionHandler } from '../../src/slack/actions.ts';

/** `Re-run` on an incident's card: reads the evidence again and judges anew. */
const rerun: ActionHandler = {
  action_id: 'rerun',
  handle: async (incidents, { incidentId, actor }) =>
    (await incidents.rerun(incidentId, actor)) ? null : 'feedback.runningAlready',
};

export default rerun;
