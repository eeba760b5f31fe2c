import { type CommandHandler, Misspoken } from '../../src/commands/command.ts';
import { durationMs } from '../../src/commands/duration.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { outcome } from '../../src/commands/reply.ts';

const silence: CommandHandler = {
  name: 'silence',
  usage: '[incident] <30m|4h|2d|off> <reason> [--group]',
  options: ['group'],
  async run(request, deps) {
    const { incidentId, rest } = await incidentOf(request, deps);
    const [howLong = '', ...reason] = rest;
    if (howLong === 'off')
      return outcome(deps, await deps.incidents.unsilence(incidentId, request.actor), 'unsilenced');
    const duration = durationMs(howLong);
    if (duration === null) throw new Misspoken(deps.say('answer.howLong'));
    if (reason.length === 0) throw new Misspoken(deps.say('answer.whySilence'));
    const breadth = request.options.group ? 'group' : 'alerts';
    const asked = { durationMs: duration, reason: reason.join(' '), breadth } as const;
    return outcome(deps, await deps.incidents.silence(incidentId, asked, request.actor), 'silenced', { for: howLong });
  },
};

export default silence;
