import { answer, type CommandDeps, type CommandHandler, Misspoken } from '../../src/commands/command.ts';
import { durationMs } from '../../src/commands/duration.ts';
import { accuracyOf, type Share } from '../../src/incidents/accuracy.ts';

/** `39 of 42 held (93%)`; a share of few says little, so the count stands before it. */
const held = ({ verdicts, corrected }: Share, deps: CommandDeps): string => {
  const kept = verdicts - corrected;
  return deps.say('answer.held', { kept, verdicts, percent: Math.round((100 * kept) / verdicts) });
};

const minutes = (ms: number): number => Math.round(ms / 6000) / 10;

const accuracy: CommandHandler = {
  name: 'accuracy',
  usage: '[--since 7d]',
  options: ['since'],
  async run({ options }, deps) {
    const back = durationMs(options.since ?? '30d');
    if (back === null) throw new Misspoken(deps.say('answer.sinceWhen'));
    const since = new Date(Date.parse(deps.now()) - back).toISOString();
    const result = accuracyOf(await deps.store.judgedSince(since));
    if (result.all.verdicts === 0) return answer(deps.say('answer.noVerdicts'));
    const acknowledged = result.medianAcknowledgedAfterMs;
    const handedOver = result.medianHandedOverAfterMs;
    return answer(
      deps.say('answer.accuracy', { since: options.since ?? '30d', held: held(result.all, deps) }),
      ...result.byOwner.map((share) => `${deps.say(`owner.${share.name}`)}: ${held(share, deps)}`),
      ...result.byConfidence.map((share) => `${deps.say(`confidence.${share.name}`)}: ${held(share, deps)}`),
      ...result.correctedRules.slice(0, 10).map((share) => `${share.name}: ${held(share, deps)}`),
      ...(acknowledged === null ? [] : [deps.say('answer.acknowledgedAfter', { minutes: minutes(acknowledged) })]),
      ...(handedOver === null ? [] : [deps.say('answer.handedOverAfter', { minutes: minutes(handedOver) })]),
    );
  },
};

export default accuracy;
