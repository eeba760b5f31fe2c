import type { InputBlock } from '@slack/types';
import { layers } from '../domain/layer.ts';
import { choiceField, type FormContext } from './forms.ts';

/** To whom an incident can be handed: a layer's owner, or a team of the directory. */
export const ownerField = (context: FormContext): InputBlock =>
  choiceField(context, 'to', [
    ...layers.map((layer): [string, string] => [layer, context.messages.say(`owner.${layer}`)]),
    ...context.teams.map(({ id, name }): [string, string] => [id, name]),
  ]);
