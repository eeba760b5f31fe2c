import { type Layer, layers } from '../../domain/layer.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { IncidentView, Routing } from '../../domain/view.ts';
import type { Draft } from './draft.ts';

/** Phrases that several messages of a thread share. */

export const isRunning = ({ incident: { progress } }: IncidentView): boolean =>
  layers.some((layer) => progress[layer] === 'waiting' || progress[layer] === 'reading');

export const layerName = (draft: Draft, layer: Layer): string => draft.say(`layer.${layer}`);

/** `Cluster platform (platform team), high confidence`, or who looks first where nobody is named. */
export const ownerPhrase = (draft: Draft, verdict: Verdict, routing: Routing | null): string => {
  const { handOff } = draft.view;
  if (handOff)
    return draft.say('owned.handedOver', {
      party: draft.line(handOff.routing.party, 150),
      owner: draft.say(`owner.${handOff.to}`),
    });
  if (verdict.state !== 'fault') return draft.say(`owned.${verdict.state}`);
  const confidence = draft.say(`confidence.${verdict.confidence}`);
  if (verdict.owner === 'undetermined')
    return routing?.party
      ? draft.say('owned.undetermined', { party: draft.line(routing.party, 150), confidence })
      : draft.say('owned.unrouted', { confidence });
  const owner = draft.say(`owner.${verdict.owner}`);
  const party = draft.line(routing?.party ?? owner, 150);
  // A directory that names nobody better repeats the layer's own word.
  const key = party.toLowerCase() === owner ? 'owned.owner' : 'owned.fault';
  return draft.say(key, { party, owner, confidence });
};

/** The one thing to do first, in the verdict's own words. */
export const firstAction = (draft: Draft, verdict: Verdict | null): string => {
  if (!verdict) return draft.say('first.running');
  if (verdict.state !== 'fault') return draft.say(`first.${verdict.state}`);
  const [step] = verdict.nextSteps;
  if (step) return draft.line(draft.sentence(step));
  const [missing] = verdict.missing;
  if (missing) return draft.say('first.undetermined', { missing: draft.line(missing.missing) });
  return draft.say('first.none');
};

/** `Firing, fired again 2 times`, for the card and the lock screen. */
export const statusPhrase = (draft: Draft): string => {
  const { status, refires } = draft.view.incident;
  const state = draft.say(`state.${status}`);
  return refires > 0 ? `${state}, ${draft.say('state.refired', { count: refires })}` : state;
};

/** A Slack mention for an id of the owner directory; null for what is no Slack id. */
export const mentionToken = (id: string): string | null => {
  if (/^[UW][A-Z0-9]{2,}$/.test(id)) return `<@${id}>`;
  if (/^S[A-Z0-9]{2,}$/.test(id)) return `<!subteam^${id}>`;
  if (/^[CG][A-Z0-9]{2,}$/.test(id)) return `<#${id}>`;
  return null;
};
