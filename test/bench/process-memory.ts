import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Faultline, webhookToken } from '../e2e/faultline.ts';
import { hubKeys, startAwsApi } from '../fakes/aws/server.ts';
import { type KubernetesApi, startKubernetesApi } from '../fakes/kubernetes/server.ts';
import { SlackDouble } from '../fakes/slack/server.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';

export interface PeakMemory {
  /** MB that the process held at most (VmHWM). */
  serverMb: number;
  workerMb: number;
  triages: number;
  /** AWS services that were asked, and so whose clients were loaded. */
  awsServices: number;
}

/** All starts and triages; far more than a busy machine needs. */
const patienceMs = 120_000;

/**
 * A server and a worker as processes on PostgreSQL and Redis, with Slack and live clusters on EKS behind protocol-true
 * doubles. Each folder is a cluster with its alert. All that it started ends with it, also where it is interrupted.
 */
export const peakMemory = async (folders: string[]): Promise<PeakMemory> => {
  const started = new AsyncDisposableStack();
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await measure(folders, started, AbortSignal.any([interruption.signal, AbortSignal.timeout(patienceMs)]));
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await started.disposeAsync();
  }
};

const measure = async (folders: string[], started: AsyncDisposableStack, signal: AbortSignal): Promise<PeakMemory> => {
  const postgres = started.adopt(await startPostgres(), (it) => it.remove());
  const redis = started.adopt(await startRedis(), (it) => it.remove());
  const slack = started.adopt(await SlackDouble.start(), (it) => it.stop());
  const aws = started.adopt(await startAwsApi(), (it) => it.close());
  const apis: KubernetesApi[] = [];
  for (const folder of folders) apis.push(started.adopt(await startKubernetesApi(folder), (it) => it.close()));
  const env = {
    PORT: '0',
    ALERTMANAGER_WEBHOOK_TOKEN: webhookToken,
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    SLACK_API_URL: slack.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_CHANNEL: '#bench',
    AWS_ACCESS_KEY_ID: hubKeys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: hubKeys.secretAccessKey,
    AWS_ENDPOINT_URL: aws.url,
    FAULTLINE_CLUSTERS: JSON.stringify(apis.map(clusterAt)),
  };
  const server = started.adopt(await Faultline.start({ env }), ended);
  const worker = started.adopt(await Faultline.start({ env, command: 'worker' }), ended);
  const triages = folders.length;
  for (const [index, folder] of folders.entries()) await server.post(await alertOf(folder, index));
  while (verdictsIn(server) + verdictsIn(worker) < triages) await delay(200, undefined, { signal });
  const awsServices = new Set(aws.requests.map(({ call }) => call.split('.')[0])).size;
  return { serverMb: await peakOf(server), workerMb: await peakOf(worker), triages, awsServices };
};

const ended = async (process: Faultline): Promise<void> => {
  await process.stop();
};

const clusterAt = ({ kubeconfig }: KubernetesApi, index: number) => ({
  name: `bench-${index}`,
  kubeconfig,
  provider: 'eks',
  region: 'us-west-2',
  eksName: `bench-${index}`,
});

/** The webhook body of a folder's alert, as it fires in its cluster. */
const alertOf = async (folder: string, index: number): Promise<string> => {
  const body = JSON.parse(await readFile(`${folder}/alert.json`, 'utf8'));
  for (const alert of body.alerts) alert.labels.cluster = `bench-${index}`;
  return JSON.stringify(body);
};

const verdictsIn = ({ output }: Faultline): number => output.split('"msg":"verdict"').length - 1;

const peakOf = async ({ pid }: Faultline): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1000;
};
