import type { PastLogsReader } from '../../triage/ports.ts';
import { type LokiLabels, type LokiOptions, labelsOf, lokiGap } from '../loki/reader.ts';
import { webApi } from '../web-api.ts';
import type { Check, CheckGroup } from './check.ts';

/** Whether Loki answers, and knows its streams by the labels that are configured. Never throws. */
export async function checkLoki(cluster: string, options: LokiOptions, timeoutMs = 10_000): Promise<CheckGroup> {
  const title = `Loki of cluster ${cluster}`;
  const answer = await webApi(options, timeoutMs).get('/loki/api/v1/labels', {});
  if (!answer.ok || !Array.isArray(answer.json?.data)) {
    const failure = answer.ok ? { reason: 'failed' as const, problem: 'the answer is not that of a Loki API' } : answer;
    const { message, fix } = lokiGap(failure, 'labels');
    return { title, checks: [{ name: 'labels', status: 'failed', detail: message, fix }] };
  }
  const known: string[] = answer.json.data;
  const wanted = Object.entries(labelsOf(options)) as [keyof LokiLabels, string][];
  return { title, checks: wanted.map(([what, label]) => checkLabel(what, label, known)) };
}

const checkLabel = (what: keyof LokiLabels, label: string, known: string[]): Check =>
  known.includes(label)
    ? { name: `label of the ${what}`, status: 'ok', detail: label }
    : {
        name: `label of the ${what}`,
        status: 'failed',
        detail: `no stream has the label ${label}; there are ${known.slice(0, 12).join(', ') || 'none'}`,
        fix: `set loki.labels.${what} of this cluster to the label that holds it`,
      };

/** Whether the cluster's log group is there and may be read. Never throws. */
export async function checkCloudWatchLogs(cluster: string, logs: PastLogsReader, now: string): Promise<CheckGroup> {
  const since = new Date(Date.parse(now) - 60_000).toISOString();
  const read = await logs.read({ namespace: 'default', pod: 'faultline-doctor', previous: false, since, until: now });
  const name = 'logs:FilterLogEvents';
  return {
    title: `CloudWatch Logs of cluster ${cluster}`,
    checks: [
      read.ok
        ? { name, status: 'ok', detail: 'allowed' }
        : { name, status: 'failed', detail: read.gap.message, fix: read.gap.fix },
    ],
  };
}
