import { answer, type CommandHandler } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';

const rerun: CommandHandler = {
  name: 'rerun',
  usage: '[incident]',
  options: [],
  async run(request, deps) {
    const { incidentId } = await incidentOf(request, deps);
    const started = await deps.incidents.rerun(incidentId, request.actor);
    return answer(deps.say(started ? 'answer.running' : 'feedback.runningAlready'));
  },
};

export default rerun;
