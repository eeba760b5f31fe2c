import type { CommandHandler } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { outcome } from '../../src/commands/reply.ts';

const resolve: CommandHandler = {
  name: 'resolve',
  usage: '[incident] [reason]',
  options: [],
  async run(request, deps) {
    const { incidentId, rest } = await incidentOf(request, deps);
    const act = { action: 'resolve', reason: rest.join(' ') } as const;
    return outcome(deps, await deps.incidents.act(incidentId, act, request.actor), 'resolved');
  },
};

export default resolve;
