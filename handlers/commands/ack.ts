import type { CommandHandler } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { outcome } from '../../src/commands/reply.ts';

const ack: CommandHandler = {
  name: 'ack',
  usage: '[incident]',
  options: [],
  async run(request, deps) {
    const { incidentId } = await incidentOf(request, deps);
    return outcome(
      deps,
      await deps.incidents.act(incidentId, { action: 'acknowledge' }, request.actor),
      'acknowledged',
    );
  },
};

export default ack;
