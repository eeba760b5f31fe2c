import { type CommandHandler, Misspoken } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { outcome } from '../../src/commands/reply.ts';

const handoff: CommandHandler = {
  name: 'handoff',
  usage: '<cloud|platform|app|team> [incident] [why] [--wrong]',
  options: ['wrong'],
  async run(request, deps) {
    const [to, ...words] = request.words;
    const { incidentId, rest } = await incidentOf({ ...request, words }, deps);
    if (request.hasForms && rest.length === 0)
      return { lines: [], form: { name: request.options.wrong ? 'wrong-owner' : 'hand-off', incidentId } };
    if (!to) throw new Misspoken(deps.say('answer.toWhom'));
    const handOff = { to, why: rest.join(' '), corrects: request.options.wrong !== undefined };
    return outcome(deps, await deps.incidents.handOff(incidentId, handOff, request.actor), 'handedOff', { to });
  },
};

export default handoff;
