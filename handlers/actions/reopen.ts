import { type ActionHandler, refusalKey } from '../../src/slack/actions.ts';

/** `Reopen` on the card of a resolved incident. */
const reopen: ActionHandler = {
  action_id: 'reopen',
  handle: async (incidents, { incidentId, actor }) =>
    refusalKey(await incidents.act(incidentId, { action: 'reopen' }, actor)),
};

export default reopen;
