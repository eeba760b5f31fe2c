import { afterAll, beforeAll, expect, it } from 'vitest';
import { SlackDouble } from '../fakes/slack/server.ts';
import { Faultline } from './faultline.ts';
import type { Install } from './installs.ts';
import { clusterOf, expectCompleteThread, incidentBody, patienceMs, settings, verdictPosted } from './workspace.ts';

/** Every step of a triage at which a process may die. Those that take longest to be noticed come first. */
const steps = [
  'before root is posted',
  'after root is posted',
  'before verdict is posted',
  'after verdict is posted',
  'after root is edited',
  'before cloud reads',
  'before platform reads',
  'before app reads',
  'after app has read',
  'after what app read is committed',
  'before the verdict is committed',
  'after the verdict is committed',
  'before the alert is committed',
  'after the alert is committed',
  'before the jobs are added',
  'after the jobs are added',
  'after root is settled',
  'after verdict is settled',
];

/**
 * One incident for each step, each in a cluster of its own. The server that takes it in is killed at the step; the next
 * server, killed at the next step of an incident of its own, goes on with what the former ones left.
 */
export const killedAtEveryStep = (install: () => Install): void => {
  let slack: SlackDouble;
  const clusters = steps.map((step) => step.replaceAll(' ', '-'));
  const env = () => ({
    ...settings(
      slack,
      clusters.map((name) => clusterOf(name)),
    ),
    ...install().env,
  });
  const unanswered: string[] = [];

  beforeAll(async () => {
    slack = await SlackDouble.start();
  });
  afterAll(() => slack?.stop());

  it.each(steps)('dies %s', { timeout: patienceMs }, async (step) => {
    const cluster = clusters[steps.indexOf(step)]!;
    const server = await Faultline.start({ env: env(), crashAt: step });
    const body = await incidentBody(cluster);
    if ((await server.post(body)) !== 200) unanswered.push(body);
    expect(await server.ended).toBe('SIGKILL');
  });

  it('completes every incident: one root, every reply once, nothing lost', { timeout: 2 * patienceMs }, async () => {
    const server = await Faultline.start({ env: env() });
    // Alertmanager sends again what was not answered, and only that.
    for (const body of unanswered) expect(await server.post(body)).toBe(200);
    for (const cluster of clusters) await verdictPosted(slack, cluster, server);
    expect(await server.stop()).toBe(0);
    for (const cluster of clusters) expectCompleteThread(slack, cluster);
  });
};
