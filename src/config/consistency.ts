import type { z } from 'zod';

interface LooseCluster {
  name?: unknown;
  aliases?: unknown;
  kubeconfig?: unknown;
  context?: unknown;
  inCluster?: unknown;
  eks?: unknown;
  region?: unknown;
  role?: unknown;
  externalId?: unknown;
  snapshot?: unknown;
  prometheusUrl?: unknown;
  prometheusAuth?: unknown;
  loki?: unknown;
  cloudWatchLogs?: unknown;
  cloudWatchLogGroup?: unknown;
}

const listOf = <T>(value: unknown): Partial<T>[] =>
  Array.isArray(value) ? value.map((item) => (item && typeof item === 'object' ? item : {})) : [];

const namesOf = (cluster: LooseCluster): string[] =>
  [cluster.name, ...(Array.isArray(cluster.aliases) ? cluster.aliases : [])].filter((name) => typeof name === 'string');

type Context = z.RefinementCtx;

const report = (context: Context, path: (string | number)[], found: string, allowed: string): void =>
  context.addIssue({ code: 'custom', path, message: allowed, params: { found } });

const waysToReach = (cluster: LooseCluster): string[] =>
  [
    cluster.kubeconfig || cluster.context ? 'kubeconfig/context' : '',
    cluster.inCluster === true ? 'inCluster' : '',
    cluster.eks === true ? 'eks' : '',
    cluster.snapshot ? 'snapshot' : '',
  ].filter(Boolean);

const checkClusters = (clusters: LooseCluster[], context: Context): void => {
  const owners = new Map<string, number>();
  const inCluster = clusters.filter((cluster) => cluster.inCluster === true);
  clusters.forEach((cluster, index) => {
    const ways = waysToReach(cluster);
    if (ways.length !== 1) {
      const allowed = 'exactly one of kubeconfig and/or context, inCluster: true, eks: true, snapshot';
      report(context, ['clusters', index], ways.join(' and ') || 'no way to reach the cluster', allowed);
    }
    if (cluster.inCluster === true && cluster !== inCluster[0]) {
      report(context, ['clusters', index, 'inCluster'], 'a second cluster', 'inCluster: true for one cluster only');
    }
    if (cluster.eks === true && !cluster.region) {
      report(context, ['clusters', index, 'region'], 'nothing', 'the AWS region, beside eks: true');
    }
    if (cluster.externalId && !cluster.role) {
      report(context, ['clusters', index, 'externalId'], 'no role', 'an external id beside the role that asks for it');
    }
    for (const name of namesOf(cluster)) {
      const owner = owners.get(name);
      if (owner === undefined) owners.set(name, index);
      else
        report(
          context,
          ['clusters', index],
          `"${name}", also of clusters[${owner}]`,
          'names and aliases that occur once',
        );
    }
  });
};

type Path = (string | number)[];

/** A user has a password, and a signature takes the place of both user and token. */
const checkCredentials = (settings: unknown, path: Path, context: Context): void => {
  if (!settings || typeof settings !== 'object') return;
  const { bearerToken, username, password, sigv4 } = settings as Record<string, unknown>;
  if (sigv4 === true && (bearerToken || username))
    report(context, path, `sigv4 beside ${bearerToken ? 'a bearerToken' : 'a username'}`, 'sigv4: true alone');
  if (Boolean(username) !== Boolean(password))
    report(context, path, username ? 'a username alone' : 'a password alone', 'username and password together');
};

const checkStores = (clusters: LooseCluster[], context: Context): void => {
  clusters.forEach((cluster, index) => {
    const path = ['clusters', index];
    checkCredentials(cluster.prometheusAuth, [...path, 'prometheusAuth'], context);
    checkCredentials(cluster.loki, [...path, 'loki'], context);
    if (cluster.loki && cluster.cloudWatchLogs === true)
      report(context, path, 'loki and cloudWatchLogs', 'one store of past logs');
    if (cluster.cloudWatchLogs === true && !cluster.region)
      report(context, [...path, 'region'], 'nothing', 'the AWS region, beside cloudWatchLogs: true');
    if (cluster.cloudWatchLogGroup && cluster.cloudWatchLogs !== true)
      report(context, [...path, 'cloudWatchLogGroup'], 'a group alone', 'a group beside cloudWatchLogs: true');
  });
};

const checkSlack = (slack: Record<string, unknown>, context: Context): void => {
  const answers = Boolean(slack.appToken || slack.signingSecret);
  if (slack.botToken && !answers) {
    const allowed = 'SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP) beside SLACK_BOT_TOKEN';
    report(context, ['slack'], 'a bot token alone', allowed);
  }
  if (!slack.botToken && answers) {
    report(context, ['slack', 'botToken'], 'nothing', 'a bot token beside the app token or signing secret');
  }
};

const revealed = (token: unknown): string =>
  token && typeof token === 'object' && 'reveal' in token ? (token as { reveal(): string }).reveal() : '';

const checkTokens = (webhooks: Record<string, unknown>, known: Set<string>, context: Context): void => {
  const names = new Set<unknown>();
  const values = new Set([revealed(webhooks.alertmanagerToken)]);
  listOf<{ name: unknown; token: unknown; clusters: unknown }>(webhooks.tokens).forEach((entry, index) => {
    const path = ['webhooks', 'tokens', index];
    if (typeof entry.name === 'string' && names.has(entry.name)) {
      report(context, [...path, 'name'], `"${entry.name}" a second time`, 'names that occur once');
    }
    names.add(entry.name);
    const value = revealed(entry.token);
    if (value && values.has(value))
      report(context, [...path, 'token'], 'the token of another entry', 'a token of its own');
    values.add(value);
    if (!Array.isArray(entry.clusters) || known.size === 0) return;
    entry.clusters.forEach((name, at) => {
      if (typeof name === 'string' && !known.has(name)) {
        report(context, [...path, 'clusters', at], `"${name}"`, `one of ${[...known].join(', ')}`);
      }
    });
  });
};

/**
 * Rules between settings. It runs even when single settings are wrong, so that all problems are listed at once; hence
 * nothing is taken for granted about the shape of `config`.
 */
export const checkConsistency = (config: unknown, context: Context): void => {
  if (!config || typeof config !== 'object') return;
  const { clusters, slack, webhooks, defaultCluster, prometheusAuth } = config as Record<string, unknown>;
  const listed = listOf<LooseCluster>(clusters);
  const known = new Set(listed.flatMap(namesOf));
  checkClusters(listed, context);
  checkStores(listed, context);
  checkCredentials(prometheusAuth, ['prometheusAuth'], context);
  if (slack && typeof slack === 'object') checkSlack(slack as Record<string, unknown>, context);
  if (webhooks && typeof webhooks === 'object') checkTokens(webhooks as Record<string, unknown>, known, context);
  if (typeof defaultCluster === 'string' && known.size > 0 && !known.has(defaultCluster)) {
    report(context, ['defaultCluster'], `"${defaultCluster}"`, `one of ${[...known].join(', ')}`);
  }
};
