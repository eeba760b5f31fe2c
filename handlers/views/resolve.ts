import { refusalKey } from '../../src/slack/actions.ts';
import { type FormHandler, textField } from '../../src/slack/forms.ts';

/** `Resolve…`: a person closes it, whatever its alerts say. */
const resolve: FormHandler = {
  callback_id: 'resolve',
  fields: (context) => [textField(context, 'reason', { optional: true })],
  submit: async (incidents, { incidentId, actor, values }) =>
    refusalKey(await incidents.act(incidentId, { action: 'resolve', reason: values.reason ?? '' }, actor)),
};

export default resolve;
