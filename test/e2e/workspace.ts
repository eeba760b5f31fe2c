import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import type { SlackDouble } from '../fakes/slack/server.ts';
import type { FakeMessage } from '../fakes/slack/workspace.ts';
import { type Faultline, webhookToken } from './faultline.ts';

/** Long enough for a crowded machine; whoever waits this long waits for something broken. */
export const patienceMs = 180_000;

/** Looks until `check` passes: what happens in another process tells us nothing. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: patienceMs, interval: 50 });

export const caseFolder = (id: string): string => fileURLToPath(new URL(`../cases/${id}`, import.meta.url));

/** An incident whose cause is the app's own: its thread has a root and replies of every kind. */
const incidentCase = caseFolder('catalog-api-restarts-every-hour');

/** What is found in a thread of the incident, in this order. */
export const completeThread = ['root', 'layer-app', 'verdict', 'next-steps', 'escalation'];

/** The webhook body of the incident, as if it happened in a cluster of that name. */
export const incidentBody = async (cluster: string): Promise<string> => {
  const body = JSON.parse(await readFile(`${incidentCase}/alert.json`, 'utf8'));
  for (const alert of body.alerts) alert.labels.cluster = cluster;
  return JSON.stringify(body);
};

/** A configured cluster of that name which has the incident, with a channel of its own. */
export const clusterOf = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  snapshot: incidentCase,
  channel: channelOf(name),
  ...more,
});

export const channelOf = (cluster: string): string => `#${cluster}`;

/** Settings of a server for these clusters whose Slack is the double. */
export const settings = (slack: SlackDouble, clusters: unknown[]): Record<string, string> => ({
  PORT: '0',
  ALERTMANAGER_WEBHOOK_TOKEN: webhookToken,
  FAULTLINE_CLUSTERS: JSON.stringify(clusters),
  SLACK_API_URL: slack.apiUrl,
  SLACK_BOT_TOKEN: slack.botToken,
  SLACK_APP_TOKEN: slack.appToken,
});

const slotOf = (message: FakeMessage): string => String(message.metadata?.event_payload.slot);

export const messages = (slack: SlackDouble, cluster: string): FakeMessage[] =>
  slack.workspace.channel(channelOf(cluster), true)?.messages ?? [];

/** Slots of all messages in the cluster's channel, in the order in which they were posted. */
export const slots = (slack: SlackDouble, cluster: string): string[] => messages(slack, cluster).map(slotOf);

/** The one message of the slot. */
export const messageOf = (slack: SlackDouble, cluster: string, slot: string): FakeMessage => {
  const found = messages(slack, cluster).filter((message) => slotOf(message) === slot);
  expect(found, `messages of slot ${slot} in ${cluster}`).toHaveLength(1);
  return found[0]!;
};

/** Waits until the verdict stands in the thread and nothing is left to send. */
export const verdictPosted = (slack: SlackDouble, cluster: string, server: Faultline): Promise<void> =>
  eventually(async () => {
    expect(slots(slack, cluster)).toContain('verdict');
    expect(await server.outboxDepth()).toBe(0);
  });

/** One root with its replies, each once and in order, and a root that shows the verdict. */
export const expectCompleteThread = (slack: SlackDouble, cluster: string): void => {
  expect(slots(slack, cluster)).toEqual(completeThread);
  const root = messageOf(slack, cluster, 'root');
  expect(messages(slack, cluster).map((message) => message.thread_ts)).toEqual(
    completeThread.map((slot) => (slot === 'root' ? undefined : root.ts)),
  );
  expect(root.text).toContain('high confidence');
};
