import { answer, type CommandHandler } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';
import { summaryLine } from '../../src/commands/reply.ts';

const show: CommandHandler = {
  name: 'show',
  usage: '[incident]',
  options: [],
  async run(request, deps) {
    const { incidentId } = await incidentOf(request, deps);
    const record = await deps.store.record(incidentId);
    if (!record) return answer(deps.say('refusal.unknown'));
    const { incident, verdict, routing, handOff } = record;
    const summary = {
      incident,
      owner: handOff?.to ?? verdict?.owner ?? null,
      party: routing?.party ?? null,
      confidence: handOff ? null : (verdict?.confidence ?? null),
    };
    return answer(
      summaryLine(summary, deps),
      ...(verdict ? [verdict.cause.en, ...verdict.nextSteps.slice(0, 3).map((step) => `• ${step.en}`)] : []),
    );
  },
};

export default show;
