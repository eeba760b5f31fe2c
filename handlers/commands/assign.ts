import { type CommandHandler, Misspoken } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { outcome } from '../../src/commands/reply.ts';

/** `<@U123|alice>` as Slack escapes a mention, `me`, or a name. */
const assigneeOf = (word: string, actor: string): string =>
  word === 'me' ? actor : (/^<@([UW][A-Z0-9]+)(?:\|[^>]*)?>$/.exec(word)?.[1] ?? word);

const assign: CommandHandler = {
  name: 'assign',
  usage: '[incident] @person|me',
  options: [],
  async run(request, deps) {
    const { incidentId, rest } = await incidentOf(request, deps);
    if (!rest[0]) throw new Misspoken(deps.say('answer.whom'));
    const assignee = assigneeOf(rest[0], request.actor);
    return outcome(
      deps,
      await deps.incidents.act(incidentId, { action: 'assign', assignee }, request.actor),
      'assigned',
    );
  },
};

export default assign;
