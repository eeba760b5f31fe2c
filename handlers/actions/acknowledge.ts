import type { ActionHandler } from '../../src/slack/actions.ts';

/** `Acknowledge` on an incident's card. */
const acknowledge: ActionHandler = {
  action_id: 'acknowledge',
  handle: async (incidents, { incidentId, actor }) =>
    (await incidents.acknowledge(incidentId, actor)) ? null : 'feedback.acknowledgedBefore',
};

export default acknowledge;
