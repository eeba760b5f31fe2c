import type { Refusal } from '../domain/act.ts';
import { describeSubject } from '../domain/alert.ts';
import type { IncidentSummary } from '../incidents/ports.ts';
import { type Answer, answer, type CommandDeps, shortId } from './command.ts';

/** Says that an act is done, or why not. */
export const outcome = (
  deps: CommandDeps,
  refusal: Refusal | null,
  done: string,
  values: Record<string, string> = {},
): Answer => answer(deps.say(refusal ? `refusal.${refusal}` : `answer.${done}`, values));

/** `1a2b3c4d KubePodCrashLooping, Deployment shop/cart, prod: open, critical; app: Shop team, high confidence`. */
export const summaryLine = ({ incident, owner, party, confidence }: IncidentSummary, deps: CommandDeps): string => {
  const whose = owner
    ? [deps.say(`owner.${owner}`), party, confidence && deps.say(`confidence.${confidence}`)].filter(Boolean).join(', ')
    : deps.say('answer.noVerdictYet');
  const state = deps.say(`state.${incident.status}`);
  return `${shortId(incident.id)} ${incident.title}, ${describeSubject(incident.subject)}, ${incident.cluster}: ${state}, ${incident.severity}; ${whose}`;
};
