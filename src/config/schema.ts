import { z } from 'zod';
import { providers } from '../domain/layer.ts';
import type { Language } from '../domain/text.ts';
import { modes } from '../domain/view.ts';
import { checkConsistency } from './consistency.ts';
import { address, addressAllowed, secret, setting, text } from './setting.ts';
import { loki, prometheusAuth } from './stores.ts';

export type { SettingMeta } from './setting.ts';

const whole = (min: number, max: number) => z.int().min(min).max(max);
const languages = ['en', 'zh-CN'] as const satisfies Language[];

const webhookToken = z.strictObject({
  name: setting(text, { about: 'Who uses the token; shown in logs.', allowed: 'a name' }),
  token: setting(secret(), { about: 'The token itself.', allowed: 'text without spaces', secret: true }),
  clusters: setting(z.array(text).min(1).optional(), {
    about: 'Clusters the token may speak for; unset: all.',
    allowed: 'a list of cluster names',
  }),
});

const cluster = z.strictObject({
  name: setting(text, { about: 'Name shown to people.', allowed: 'a name' }),
  aliases: setting(z.array(text).default([]), {
    about: 'Other values of the cluster label that mean this cluster.',
    allowed: 'a list of names',
  }),
  kubeconfig: setting(text.optional(), {
    about: 'Reach it by this kubeconfig file; unset with `context`: KUBECONFIG or ~/.kube/config.',
    allowed: 'a path',
    path: true,
  }),
  context: setting(text.optional(), {
    about: 'Context of the kubeconfig; unset: its current one.',
    allowed: 'a context name',
  }),
  inCluster: setting(z.boolean().default(false), {
    about: 'Reach it by the service account of the pod Faultline runs in.',
    allowed: 'true or false',
  }),
  eks: setting(z.boolean().default(false), {
    about: 'Reach it by its name in EKS and `region`: endpoint from EKS, tokens made here; no kubeconfig needed.',
    allowed: 'true or false',
  }),
  eksName: setting(text.optional(), { about: 'Name of the cluster in EKS; unset: `name`.', allowed: 'a name' }),
  role: setting(text.regex(/^arn:[\w-]+:iam::\d{12}:role\/\S+$/).optional(), {
    about: "AWS role that reads the cluster's account, assumed by Faultline's own; unset: Faultline's own.",
    allowed: 'the ARN of an IAM role',
  }),
  externalId: setting(text.optional(), {
    about: "External id that the role's trust policy asks for.",
    allowed: 'a text',
  }),
  snapshot: setting(text.optional(), {
    about: 'Read a folder of Kubernetes objects instead; its clock is captured_at.',
    allowed: 'a path',
    path: true,
  }),
  provider: setting(z.enum(providers).optional(), {
    about: 'Unset: read from the nodes or the snapshot.',
    allowed: `one of ${providers.join(', ')}`,
  }),
  region: setting(text.optional(), { about: 'Cloud region.', allowed: 'a region name' }),
  account: setting(text.optional(), {
    about: 'Cloud account, subscription or project.',
    allowed: 'a quoted text (unquoted, YAML drops leading zeros)',
  }),
  prometheusUrl: setting(address.optional(), {
    about: "This cluster's Prometheus; unset: the general one.",
    allowed: addressAllowed,
  }),
  prometheusAuth: prometheusAuth().optional(),
  loki: loki.optional(),
  cloudWatchLogs: setting(z.boolean().default(false), {
    about: 'Read logs of pods that are gone from CloudWatch Logs, where Container Insights collects them.',
    allowed: 'true or false',
  }),
  cloudWatchLogGroup: setting(text.optional(), {
    about: 'Its log group; unset: /aws/containerinsights/<name in EKS>/application.',
    allowed: 'the name of a log group',
  }),
  alertmanagerUrl: setting(address.optional(), {
    about: "This cluster's Alertmanager, for silences; unset: the general one.",
    allowed: addressAllowed,
  }),
  mode: setting(z.enum(modes).default('observe'), {
    about: "observe: one channel, no mentions; post: owners' channels; page: mentions too.",
    allowed: `one of ${modes.join(', ')}`,
  }),
  channel: setting(text.optional(), {
    about: 'Slack channel of this cluster; unset: slack.channel.',
    allowed: 'a channel id or #name',
  }),
});

const server = z.strictObject({
  port: setting(whole(0, 65_535).default(3000), {
    env: 'PORT',
    about: 'Port of webhooks, console and metrics.',
    allowed: 'a whole number from 0 (any free port) to 65535',
  }),
  host: setting(text.default('127.0.0.1'), {
    env: 'FAULTLINE_HOST',
    about: 'Address to listen on; 0.0.0.0 lets Alertmanager reach it from elsewhere. The console stays on loopback.',
    allowed: 'an address of this machine',
  }),
});

const slashName = (env: string, name: string, about: string) =>
  setting(
    z
      .string()
      .regex(/^\/[a-z0-9_-]{1,31}$/)
      .default(name),
    { env, about, allowed: 'a name that begins with /' },
  );

const slack = z.strictObject({
  botToken: setting(secret(/^xoxb-\S+$/).optional(), {
    env: 'SLACK_BOT_TOKEN',
    about: 'Bot token; unset: messages go to the local console only.',
    allowed: 'a bot token, which begins with xoxb-',
    secret: true,
  }),
  appToken: setting(secret(/^xapp-\S+$/).optional(), {
    env: 'SLACK_APP_TOKEN',
    about: 'App-level token for Socket Mode.',
    allowed: 'an app-level token, which begins with xapp-',
    secret: true,
  }),
  signingSecret: setting(secret().optional(), {
    env: 'SLACK_SIGNING_SECRET',
    about: 'Signing secret, for HTTP instead of Socket Mode.',
    allowed: 'text without spaces',
    secret: true,
  }),
  apiUrl: setting(address.default('https://slack.com/api/'), {
    env: 'SLACK_API_URL',
    about: "Slack's Web API.",
    allowed: addressAllowed,
  }),
  triageCommand: slashName('SLACK_TRIAGE_COMMAND', '/triage', 'Slash command that triages an object on demand.'),
  incidentCommand: slashName(
    'SLACK_INCIDENT_COMMAND',
    '/incident',
    'Slash command that lists incidents and acts on them.',
  ),
  handoffCommand: slashName('SLACK_HANDOFF_COMMAND', '/handoff', 'Slash command that hands an incident over.'),
  ownerCommand: slashName('SLACK_OWNER_COMMAND', '/owner', 'Slash command that says who owns a workload.'),
  channel: setting(text.default('#incidents'), {
    env: 'SLACK_CHANNEL',
    about: 'Channel of incidents whose cluster or owner names none.',
    allowed: 'a channel id or #name',
  }),
});

const webhooks = z.strictObject({
  alertmanagerToken: setting(secret().optional(), {
    env: 'ALERTMANAGER_WEBHOOK_TOKEN',
    about: 'One token that may speak for all clusters.',
    allowed: 'text without spaces',
    secret: true,
  }),
  tokens: setting(z.array(webhookToken).default([]), {
    env: 'FAULTLINE_WEBHOOK_TOKENS',
    about: 'One token per Alertmanager, bound to its clusters.',
    allowed: 'a list of {name, token, clusters}; in the environment as YAML or JSON',
    secret: true,
  }),
});

const triage = z.strictObject({
  concurrency: setting(whole(1, 64).default(4), {
    env: 'FAULTLINE_CONCURRENCY',
    about: 'Jobs a process works on at once.',
    allowed: 'a whole number from 1 to 64',
  }),
  readTimeoutMs: setting(whole(100, 120_000).default(10_000), {
    env: 'FAULTLINE_READ_TIMEOUT_MS',
    about: 'Longest wait for one call to a cluster, Prometheus or cloud.',
    allowed: 'milliseconds, from 100 to 120000',
  }),
  maxApiCalls: setting(whole(12, 500).default(30), {
    env: 'FAULTLINE_MAX_API_CALLS',
    about: "Calls to a cluster's API server that one triage may make; what they do not suffice for is named.",
    allowed: 'a whole number from 12 to 500',
  }),
  layerTimeoutMs: setting(whole(1000, 600_000).default(45_000), {
    env: 'FAULTLINE_LAYER_TIMEOUT_MS',
    about: 'Longest time one layer may read; what is missing then is "unknown".',
    allowed: 'milliseconds, from 1000 to 600000',
  }),
});

/** The one schema of `faultline.yaml` and of the environment that overrides it. */
export const configSchema = z
  .strictObject({
    server: server.prefault({}),
    dataDir: setting(text.default('./data'), {
      env: 'DATA_DIR',
      about: 'Folder of the embedded database.',
      allowed: 'a path',
      path: true,
    }),
    databaseUrl: setting(secret(/^postgres(ql)?:\/\/\S*$/).optional(), {
      env: 'DATABASE_URL',
      about: 'PostgreSQL; unset: an embedded database in dataDir.',
      allowed: 'an address that begins with postgres:// or postgresql://',
      secret: true,
    }),
    redisUrl: setting(secret(/^rediss?:\/\/\S+$/).optional(), {
      env: 'REDIS_URL',
      about: 'Redis for the queue; unset: the queue lives in the database.',
      allowed: 'an address that begins with redis:// or rediss://',
      secret: true,
    }),
    retentionDays: setting(whole(1, 3650).default(90), {
      env: 'FAULTLINE_RETENTION_DAYS',
      about: 'Resolved incidents are deleted after this many days.',
      allowed: 'days, from 1 to 3650',
    }),
    logLevel: setting(z.enum(['debug', 'info', 'warn', 'error']).default('info'), {
      env: 'LOG_LEVEL',
      about: 'Least severe log line that is written.',
      allowed: 'one of debug, info, warn, error',
    }),
    language: setting(z.enum(languages).default('en'), {
      env: 'FAULTLINE_LANGUAGE',
      about: 'Language of messages; what is not translated is English.',
      allowed: `one of ${languages.join(', ')}`,
    }),
    ownersDir: setting(text.default('./owners'), {
      env: 'FAULTLINE_OWNERS_DIR',
      about: 'Folder of the owner directory; it may be absent.',
      allowed: 'a path',
      path: true,
    }),
    slack: slack.prefault({}),
    webhooks: webhooks.prefault({}),
    prometheusUrl: setting(address.optional(), {
      env: 'PROMETHEUS_URL',
      about: 'Prometheus of clusters that name none of their own.',
      allowed: addressAllowed,
    }),
    prometheusAuth: prometheusAuth('PROMETHEUS').prefault({}),
    alertmanagerUrl: setting(address.optional(), {
      env: 'ALERTMANAGER_URL',
      about: 'Alertmanager of clusters that name none of their own; unset: nothing can be silenced from Slack.',
      allowed: addressAllowed,
    }),
    alertmanagerToken: setting(secret().optional(), {
      env: 'ALERTMANAGER_TOKEN',
      about: "Bearer token for Alertmanager's API, where it asks for one.",
      allowed: 'text without spaces',
      secret: true,
    }),
    clusterLabels: setting(z.array(text).min(1).default(['cluster', 'cluster_name', 'k8s_cluster_name']), {
      env: 'FAULTLINE_CLUSTER_LABELS',
      about: 'Alert labels that name the cluster; the first that is present decides.',
      allowed: 'a list of label names; in the environment separated by commas',
    }),
    defaultCluster: setting(text.optional(), {
      env: 'FAULTLINE_DEFAULT_CLUSTER',
      about: 'Cluster of alerts without a cluster label; unset: the only one there is.',
      allowed: 'the name of a cluster',
    }),
    clusters: setting(z.array(cluster).default([]), {
      env: 'FAULTLINE_CLUSTERS',
      about: 'Clusters to triage, each with one way to reach it.',
      allowed: 'a list of clusters; in the environment as YAML or JSON',
    }),
    triage: triage.prefault({}),
  })
  .superRefine(checkConsistency, { when: () => true });

export type Config = z.output<typeof configSchema>;
export type ClusterConfig = Config['clusters'][number];
