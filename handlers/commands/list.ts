import { clusterOf } from '../../src/commands/cluster-reference.ts';
import { answer, type CommandHandler, Misspoken } from '../../src/commands/command.ts';
import { summaryLine } from '../../src/commands/reply.ts';
import { layers, type Owner } from '../../src/domain/layer.ts';

const shown = 20;

const list: CommandHandler = {
  name: 'list',
  usage: '[mine] [--owner cloud|platform|app] [--team name] [--cluster name] [--state open|resolved|all]',
  options: ['owner', 'team', 'cluster', 'state'],
  async run({ words, options, actor }, deps) {
    const { owner, team, state = 'open' } = options;
    if (owner !== undefined && ![...layers, 'undetermined'].includes(owner as Owner))
      throw new Misspoken(deps.say('answer.noOwner', { owner }));
    if (!['open', 'resolved', 'all'].includes(state)) throw new Misspoken(deps.say('answer.noState', { state }));
    const cluster = options.cluster === undefined ? undefined : clusterOf(options.cluster, deps);
    const found = await deps.store.search(
      {
        ...(state !== 'all' && { status: state as 'open' | 'resolved' }),
        ...(owner && { owner: owner as Owner }),
        ...(team && { party: team }),
        ...(cluster && { cluster }),
        ...(words[0] === 'mine' && { person: actor }),
      },
      shown + 1,
    );
    if (found.length === 0) return answer(deps.say('answer.noIncidents'));
    const more = found.length > shown ? [deps.say('answer.more', { shown })] : [];
    return answer(...found.slice(0, shown).map((summary) => summaryLine(summary, deps)), ...more);
  },
};

export default list;
