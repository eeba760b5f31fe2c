import { refusalKey } from '../../src/slack/actions.ts';
import { type FormHandler, personField } from '../../src/slack/forms.ts';

/** `Assign…`: who works on it. */
const assign: FormHandler = {
  callback_id: 'assign',
  fields: (context) => [personField(context, 'assignee')],
  submit: async (incidents, { incidentId, actor, values }) =>
    refusalKey(await incidents.act(incidentId, { action: 'assign', assignee: values.assignee ?? actor }, actor)),
};

export default assign;
