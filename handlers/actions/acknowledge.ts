import type { ActionHandler } from '../../src/slack/actions.ts';

/** `Acknowledge` on an incident's card. */
const acknowledge: ActionHandler = {
  action_id: 'acknowledge',
  handle: async (incidents, { incidentId, actor }) => {
    const refusal = await incidents.act(incidentId, { action: 'acknowledge' }, actor);
    return refusal && `refusal.${refusal}`;
  },
};

export default acknowledge;
