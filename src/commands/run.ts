import { type Answer, answer, type CommandDeps, type CommandHandler, Misspoken, type Speaker } from './command.ts';
import { nearest, wordsOf } from './words.ts';

/** Carries out commands: one grammar for slash commands, for mentions in threads and for the command line. */
export const commandRunner =
  (handlers: CommandHandler[], deps: CommandDeps) =>
  async (text: string, speaker: Speaker): Promise<Answer> => {
    const { words, options } = wordsOf(text);
    const [name = 'help', ...rest] = words;
    if (name.toLowerCase() === 'help') return help(handlers, deps);
    const handler = handlers.find((candidate) => candidate.name === name.toLowerCase());
    if (!handler) return unknown(name, handlers, deps);
    const foreign = Object.keys(options).find((option) => !handler.options.includes(option));
    if (foreign !== undefined)
      return answer(deps.say('answer.unknownOption', { option: foreign, usage: usageOf(handler) }));
    try {
      return await handler.run({ ...speaker, words: rest, options }, deps);
    } catch (error) {
      if (!(error instanceof Misspoken)) throw error;
      return answer(error.message, deps.say('answer.usage', { usage: usageOf(handler) }));
    }
  };

const usageOf = ({ name, usage }: CommandHandler): string => `${name} ${usage}`.trim();

const help = (handlers: CommandHandler[], deps: CommandDeps): Answer =>
  answer(
    deps.say('answer.help'),
    ...handlers.map((handler) => `${usageOf(handler)}: ${deps.say(`command.${handler.name}`)}`),
    deps.say('answer.implied'),
  );

const unknown = (name: string, handlers: CommandHandler[], deps: CommandDeps): Answer => {
  const meant = nearest(
    name,
    handlers.map((handler) => handler.name),
  );
  const handler = handlers.find((candidate) => candidate.name === meant);
  return handler
    ? answer(deps.say('answer.didYouMean', { name, usage: usageOf(handler) }))
    : answer(deps.say('answer.unknown', { name }), ...help(handlers, deps).lines);
};
