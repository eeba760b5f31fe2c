import { type CommandHandler, Misspoken } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { outcome } from '../../src/commands/reply.ts';

const note: CommandHandler = {
  name: 'note',
  usage: '[incident] <text>',
  options: [],
  async run(request, deps) {
    const { incidentId, rest } = await incidentOf(request, deps);
    const text = rest.join(' ');
    if (!text) throw new Misspoken(deps.say('answer.noText'));
    return outcome(deps, await deps.incidents.act(incidentId, { action: 'note', text }, request.actor), 'noted');
  },
};

export default note;
