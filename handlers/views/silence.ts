import { durationMs } from '../../src/commands/duration.ts';
import { breadths } from '../../src/domain/silence.ts';
import { refusalKey } from '../../src/slack/actions.ts';
import { choiceField, type FormHandler, textField } from '../../src/slack/forms.ts';

const durations = ['30m', '1h', '4h', '1d', '3d', '7d'];

/** `Silence…`: its alerts notify nobody until then; once more extends it. */
const silence: FormHandler = {
  callback_id: 'silence',
  fields: (context) => [
    choiceField(
      context,
      'duration',
      durations.map((duration) => [duration, duration]),
    ),
    choiceField(
      context,
      'breadth',
      breadths.map((breadth) => [breadth, context.messages.say(`breadth.${breadth}`)]),
    ),
    textField(context, 'silenceReason'),
  ],
  submit: async (incidents, { incidentId, actor, values }) =>
    refusalKey(
      await incidents.silence(
        incidentId,
        {
          durationMs: durationMs(values.duration ?? '') ?? 3_600_000,
          breadth: values.breadth === 'group' ? 'group' : 'alerts',
          reason: values.silenceReason ?? '',
        },
        actor,
      ),
    ),
};

export default silence;
