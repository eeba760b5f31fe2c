import { type ActionHandler, refusalKey } from '../../src/slack/actions.ts';

/** `Acknowledge` on an incident's card. */
const acknowledge: ActionHandler = {
  action_id: 'acknowledge',
  handle: async (incidents, { incidentId, actor }) =>
    refusalKey(await incidents.act(incidentId, { action: 'acknowledge' }, actor)),
};

export default acknowledge;
