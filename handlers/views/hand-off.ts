import { refusalKey } from '../../src/slack/actions.ts';
import { type FormHandler, textField } from '../../src/slack/forms.ts';
import { ownerField } from '../../src/slack/owner-field.ts';

/** `Hand off…`: somebody else acts, and gets the escalation that they need. */
const handOff: FormHandler = {
  callback_id: 'hand-off',
  fields: (context) => [ownerField(context), textField(context, 'why', { optional: true })],
  submit: async (incidents, { incidentId, actor, values }) =>
    refusalKey(
      await incidents.handOff(incidentId, { to: values.to ?? '', why: values.why ?? '', corrects: false }, actor),
    ),
};

export default handOff;
