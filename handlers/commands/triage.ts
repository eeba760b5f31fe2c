import { clusterOf } from '../../src/commands/cluster-reference.ts';
import { answer, type CommandHandler, Misspoken, shortId } from '../../src/commands/command.ts';
import { parseObject } from '../../src/intake/object.ts';

/** `pod/web-1`, or `pod web-1` as the words of a command come. */
const objectIn = ([first = '', second]: string[]): string =>
  first.includes('/') || !second ? first : `${first}/${second}`;

const triage: CommandHandler = {
  name: 'triage',
  usage: '<kind/name> [-n namespace] [--cluster name]',
  options: ['n', 'namespace', 'cluster'],
  async run({ words, options, actor }, deps) {
    if (!words[0]) throw new Misspoken(deps.say('answer.whatToTriage'));
    const cluster = clusterOf(options.cluster, deps);
    const parsed = parseObject(objectIn(words), options.n ?? options.namespace, cluster);
    if (!parsed.ok) throw new Misspoken(parsed.problem);
    const id = await deps.incidents.triage(parsed.subject, actor);
    return answer(deps.say('answer.triaging', { object: words.slice(0, 2).join(' '), cluster, id: shortId(id) }));
  },
};

export default triage;
