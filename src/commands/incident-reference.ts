import { type CommandDeps, type CommandRequest, Misspoken } from './command.ts';

/** The first eight characters of an id as lists show it, or more of them. */
const looksLikeId = (word: string | undefined): word is string => word !== undefined && /^[0-9a-f-]{6,36}$/i.test(word);

export interface Referred {
  incidentId: string;
  /** The words after the reference. */
  rest: string[];
}

/**
 * The incident that a command is about: named first, else the one whose thread or channel it is said in.
 * Throws Misspoken where neither tells, or the name is none.
 */
export const incidentOf = async ({ words, incidentId }: CommandRequest, deps: CommandDeps): Promise<Referred> => {
  const [first, ...rest] = words;
  if (looksLikeId(first)) {
    const found = await deps.store.withPrefix(first.toLowerCase());
    if (found.length === 1) return { incidentId: found[0]!, rest };
    if (incidentId === null || found.length > 1)
      throw new Misspoken(deps.say(found.length > 1 ? 'answer.severalSuch' : 'answer.noSuch', { id: first }));
  }
  if (incidentId === null) throw new Misspoken(deps.say('answer.whichIncident'));
  return { incidentId, rest: words };
};
