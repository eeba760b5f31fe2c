import type { ClusterConfig, Config } from './config/schema.ts';
import type { PrometheusAuth } from './config/stores.ts';
import type { AwsAccounts } from './evidence/aws/account.ts';
import { cloudWatchLogsReader, containerInsightsGroup } from './evidence/aws/past-logs.ts';
import { getSigner, workspaceRegion } from './evidence/aws/sign.ts';
import { type LokiOptions, lokiReader } from './evidence/loki/reader.ts';
import { type PrometheusOptions, prometheusReader } from './evidence/prometheus/live.ts';
import type { WebAccess } from './evidence/web-api.ts';
import type { ClusterReaders } from './triage/ports.ts';

/** What of a cluster is read elsewhere than from its API server. */
export type Stores = Pick<ClusterReaders, 'metrics' | 'pastLogs'>;

/** The stores of a configured cluster. Nothing is sent until the first read. */
export const storesOf = (cluster: ClusterConfig, config: Config, accounts: AwsAccounts): Stores => {
  const timeoutMs = config.triage.readTimeoutMs;
  const prometheus = prometheusOf(cluster, config, accounts);
  return {
    metrics: prometheus ? prometheusReader({ ...prometheus, timeoutMs }) : null,
    pastLogs: pastLogsOf(cluster, timeoutMs, accounts),
  };
};

/** A cluster's Prometheus, with its own credentials; those of the general one are never sent to another. */
export const prometheusOf = (
  cluster: ClusterConfig,
  { prometheusUrl, prometheusAuth }: Config,
  accounts: AwsAccounts,
): PrometheusOptions | null => {
  const url = cluster.prometheusUrl ?? prometheusUrl;
  if (!url) return null;
  const auth = cluster.prometheusAuth ?? (cluster.prometheusUrl ? undefined : prometheusAuth);
  return { url, ...accessOf(auth), ...(auth?.sigv4 && { sign: signerOf(url, cluster, accounts) }) };
};

const accessOf = (auth: Partial<Omit<PrometheusAuth, 'sigv4'>> = {}): Omit<WebAccess, 'url'> => {
  const { bearerToken, username, password, tenant, caFile } = auth;
  return {
    ...(bearerToken && { bearerToken: bearerToken.reveal() }),
    ...(username && password && { basicAuth: { username, password: password.reveal() } }),
    ...(tenant && { tenant }),
    ...(caFile && { caFile }),
  };
};

const signerOf = (url: string, cluster: ClusterConfig, accounts: AwsAccounts): WebAccess['sign'] => {
  const region = workspaceRegion(url) ?? cluster.region ?? 'us-east-1';
  const account = accounts.account({ ...cluster, region });
  return getSigner({ service: 'aps', region, credentials: () => account.credentials() });
};

export const lokiOf = ({ loki }: ClusterConfig): LokiOptions | null =>
  loki ? { url: loki.url, ...accessOf(loki), labels: loki.labels, matchers: loki.matchers } : null;

const pastLogsOf = (cluster: ClusterConfig, timeoutMs: number, accounts: AwsAccounts): Stores['pastLogs'] => {
  const loki = lokiOf(cluster);
  if (loki) return lokiReader({ ...loki, timeoutMs });
  const { cloudWatchLogs, cloudWatchLogGroup, region, name, eksName } = cluster;
  if (!cloudWatchLogs || !region) return null;
  const group = cloudWatchLogGroup ?? containerInsightsGroup(eksName ?? name);
  return cloudWatchLogsReader(accounts.account({ ...cluster, region }), group);
};
