import { answer, type CommandHandler } from '../../src/commands/command.ts';
import { incidentOf } from '../../src/commands/incident-reference.ts';

const shown = 30;

/** `2026-11-20 08:25:00 UTC`, to be read in any zone. */
const clock = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

const timeline: CommandHandler = {
  name: 'timeline',
  usage: '[incident]',
  options: [],
  async run(request, deps) {
    const { incidentId } = await incidentOf(request, deps);
    const record = await deps.store.record(incidentId);
    if (!record) return answer(deps.say('refusal.unknown'));
    const { incident, verdict, verdictAt, trail } = record;
    const moments: [string, string][] = [
      ...(verdict?.onset ? [[verdict.onset, deps.say('label.onset')] as [string, string]] : []),
      [incident.firedAt, `${deps.say('label.fired')}: ${incident.title}`],
      ...(verdict && verdictAt
        ? [[verdictAt, `${deps.say(`owner.${verdict.owner}`)}: ${verdict.cause.en}`] as [string, string]]
        : []),
      ...trail.map(({ at, actor, action, detail }): [string, string] => [
        at,
        [`${action} (${actor})`, detail].filter(Boolean).join(': '),
      ]),
      ...(incident.resolvedAt ? [[incident.resolvedAt, deps.say('state.resolved')] as [string, string]] : []),
    ];
    const inOrder = moments.toSorted(([a], [b]) => a.localeCompare(b)).slice(-shown);
    return answer(...inOrder.map(([at, what]) => `${clock(at)} ${what}`));
  },
};

export default timeline;
