import type { Command } from 'commander';
import { type Clusters, configuredClusters, wayTo } from '../../clusters.ts';
import type { ClusterConfig, Config } from '../../config/schema.ts';
import { awsAccounts } from '../../evidence/aws/account.ts';
import { awsNotSetUp, checkAws } from '../../evidence/doctor/aws.ts';
import type { CheckGroup } from '../../evidence/doctor/check.ts';
import { checkCluster } from '../../evidence/doctor/cluster.ts';
import { formatChecks } from '../../evidence/doctor/format.ts';
import { checkCloudWatchLogs, checkLoki } from '../../evidence/doctor/past-logs.ts';
import { ClusterAccessError } from '../../evidence/kubernetes/access.ts';
import { openSnapshot } from '../../evidence/kubernetes/snapshot.ts';
import type { PrometheusOptions } from '../../evidence/prometheus/live.ts';
import { lokiOf, prometheusOf } from '../../stores.ts';
import { checkDatabase, checkPrometheus, checkQueue, checkSlack, checkWebhooks } from '../doctor/neighbours.ts';
import { readConfig, readDirectory } from '../setup.ts';

export default (program: Command): void => {
  program
    .command('doctor')
    .description('Check every connection and permission, and say the line that fixes what is missing')
    .action(run);
};

const run = async (): Promise<void> => {
  const config = readConfig();
  readDirectory(config.ownersDir);
  const clusters = configuredClusters(config);
  const checks = await Promise.all([
    checkDatabase(config),
    checkQueue(config),
    checkSlack(config),
    checkWebhooks(config),
    ...prometheusServers(config).map(checkPrometheus),
    ...config.clusters.map((cluster) => checkPastLogs(clusters, cluster)),
    ...clusterChecks(config),
    ...config.clusters.map((cluster) => checkCloud(clusters, cluster)),
  ]);
  const groups = checks.filter((group) => group !== null);
  process.stdout.write(`${formatChecks(groups)}\n`);
  if (groups.some((group) => group.checks.some((check) => check.status === 'failed'))) process.exitCode = 1;
};

/** Each Prometheus once for each way it is asked. */
const prometheusServers = (config: Config): PrometheusOptions[] => {
  const accounts = awsAccounts({ timeoutMs: 10_000 });
  const servers = config.clusters
    .filter(({ snapshot }) => !snapshot)
    .map((cluster) => prometheusOf(cluster, config, accounts))
    .filter((server) => server !== null);
  return [...new Map(servers.map((server) => [JSON.stringify([server, Boolean(server.sign)]), server])).values()];
};

/** Null where the cluster has no store of past logs. */
const checkPastLogs = async (clusters: Clusters, cluster: ClusterConfig): Promise<CheckGroup | null> => {
  const loki = lokiOf(cluster);
  if (loki) return checkLoki(cluster.name, loki);
  if (!cluster.cloudWatchLogs) return null;
  const opened = await clusters.open(cluster.name).catch(() => null);
  const { pastLogs, now } = opened?.readers() ?? {};
  return pastLogs && now ? checkCloudWatchLogs(cluster.name, pastLogs, now()) : null;
};

const clusterChecks = ({ clusters }: Config): (CheckGroup | Promise<CheckGroup>)[] =>
  clusters.length > 0
    ? clusters.map((cluster) => (cluster.snapshot ? checkSnapshot(cluster, cluster.snapshot) : checkLive(cluster)))
    : [
        {
          title: 'clusters',
          checks: [
            {
              name: 'configured',
              status: 'failed',
              detail: 'none: no incident can be triaged',
              fix: 'add one to clusters in faultline.yaml (see faultline.example.yaml)',
            },
          ],
        },
      ];

const checkLive = async (cluster: ClusterConfig): Promise<CheckGroup> => {
  const access = { ...cluster, eksName: cluster.eksName ?? cluster.name };
  try {
    return await checkCluster(cluster.name, await wayTo(access, awsAccounts({ timeoutMs: 10_000 })));
  } catch (error) {
    if (!(error instanceof ClusterAccessError)) throw error;
    const check = { name: 'connection', status: 'failed', detail: error.message, fix: 'see docs/aws.md' } as const;
    return { title: `cluster ${cluster.name}`, checks: [check] };
  }
};

/** Null where there is no AWS account to read; why a cluster cannot be opened its own check says. */
const checkCloud = async (clusters: Clusters, { name, snapshot }: ClusterConfig): Promise<CheckGroup | null> => {
  const cluster = snapshot ? null : await clusters.open(name).catch(() => null);
  const { cloud, now } = cluster?.readers() ?? {};
  if (cluster && cloud && now) return checkAws(cloud, cluster.identity, now());
  return cluster?.identity.provider.startsWith('eks') ? awsNotSetUp(cluster.identity) : null;
};

const checkSnapshot = async ({ name }: ClusterConfig, dir: string): Promise<CheckGroup> => {
  const title = `cluster ${name}`;
  try {
    const { meta } = await openSnapshot(dir);
    return { title, checks: [{ name: 'snapshot', status: 'ok', detail: `${dir}, captured at ${meta.capturedAt}` }] };
  } catch (error) {
    return {
      title,
      checks: [
        {
          name: 'snapshot',
          status: 'failed',
          detail: (error as Error).message,
          fix: 'correct snapshot of this cluster',
        },
      ],
    };
  }
};
