import { type ActionHandler, refusalKey } from '../../src/slack/actions.ts';

/** `End silence` on the card of an incident that is silenced. */
const unsilence: ActionHandler = {
  action_id: 'unsilence',
  handle: async (incidents, { incidentId, actor }) => refusalKey(await incidents.unsilence(incidentId, actor)),
};

export default unsilence;
