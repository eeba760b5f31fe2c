import { clusterOf } from '../../src/commands/cluster-reference.ts';
import { answer, type CommandHandler, Misspoken } from '../../src/commands/command.ts';

const owner: CommandHandler = {
  name: 'owner',
  usage: '<namespace/workload> [--cluster name]',
  options: ['cluster'],
  async run({ words, options }, deps) {
    const [workload] = words;
    if (!workload) throw new Misspoken(deps.say('answer.whoseWorkload'));
    const cluster = clusterOf(options.cluster, deps);
    const lines = await deps.explainOwner(cluster, workload);
    return lines ? answer(...lines) : answer(deps.say('answer.notFound', { object: workload, cluster }));
  },
};

export default owner;
