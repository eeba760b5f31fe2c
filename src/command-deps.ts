import type { Clusters } from './clusters.ts';
import type { CommandDeps } from './commands/command.ts';
import type { Config } from './config/schema.ts';
import type { IncidentStore } from './incidents/ports.ts';
import type { Incidents } from './incidents/use-cases.ts';
import { canonicalCluster } from './intake/cluster.ts';
import { onDemand } from './intake/on-demand.ts';
import type { OwnerDirectory } from './routing/directory.ts';
import type { Messages } from './slack/messages.ts';
import { workloadOwner } from './workload-owner.ts';

export interface CommandParts {
  config: Config;
  clusters: Clusters;
  directory: OwnerDirectory;
  incidents: Incidents;
  store: IncidentStore;
  messages: Messages;
  /** ISO 8601. */
  now(): string;
}

/** What commands ask of the other modules. */
export const commandDeps = (parts: CommandParts): CommandDeps => {
  const { config, clusters, directory, incidents, store, messages, now } = parts;
  return {
    incidents: {
      ...incidents,
      triage: (subject, actor) => incidents.triage(onDemand(subject, actor, now()), actor),
    },
    store,
    now,
    say: messages.say,
    clusterNamed(name) {
      const only = config.clusters.length === 1 ? config.clusters[0]!.name : undefined;
      const wanted = name === undefined ? (config.defaultCluster ?? only) : canonicalCluster(name, config);
      return config.clusters.some((cluster) => cluster.name === wanted) ? wanted! : null;
    },
    async explainOwner(name, workload) {
      const cluster = await clusters.open(name);
      return cluster && workloadOwner(cluster, workload, directory);
    },
  };
};
