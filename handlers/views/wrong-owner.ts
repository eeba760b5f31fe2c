import { refusalKey } from '../../src/slack/actions.ts';
import { type FormHandler, textField } from '../../src/slack/forms.ts';
import { ownerField } from '../../src/slack/owner-field.ts';

/** `Wrong owner…`: who it is, and how one can know: recorded, since it says how often verdicts hold. */
const wrongOwner: FormHandler = {
  callback_id: 'wrong-owner',
  fields: (context) => [ownerField(context), textField(context, 'why')],
  submit: async (incidents, { incidentId, actor, values }) =>
    refusalKey(
      await incidents.handOff(incidentId, { to: values.to ?? '', why: values.why ?? '', corrects: true }, actor),
    ),
};

export default wrongOwner;
