import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Fault } from '../fakes/slack/faults.ts';
import { SlackDouble } from '../fakes/slack/server.ts';
import { Faultline } from './faultline.ts';
import { describeServers } from './installs.ts';
import {
  clusterOf,
  eventually,
  expectCompleteThread,
  incidentBody,
  patienceMs,
  settings,
  verdictPosted,
} from './workspace.ts';

describeServers('servers whose neighbours fail', (install) => {
  let slack: SlackDouble;
  let running: Faultline[] = [];

  beforeAll(async () => {
    slack = await SlackDouble.start();
  });
  afterEach(async () => {
    slack.faults.clear();
    await Promise.all(running.map((process) => process.stop()));
    running = [];
  });
  afterAll(() => slack?.stop());

  const start = async (clusters: string[], command: 'serve' | 'worker' = 'serve'): Promise<Faultline> => {
    const env = {
      ...settings(
        slack,
        clusters.map((name) => clusterOf(name)),
      ),
      ...install().env,
    };
    const process = await Faultline.start({ env, command });
    running.push(process);
    return process;
  };

  it('post once where two servers and a worker share the work', { timeout: patienceMs }, async () => {
    const clusters = Array.from({ length: 12 }, (_, i) => `shared-${i}`);
    const [one, two] = await Promise.all([start(clusters), start(clusters), start(clusters, 'worker')]);
    // Both replicas of an Alertmanager tell both servers, at the same time.
    const posts = clusters.flatMap((cluster) =>
      [one, two].map(async (server) => server.post(await incidentBody(cluster))),
    );
    expect(await Promise.all(posts)).toEqual(posts.map(() => 200));
    for (const cluster of clusters) await verdictPosted(slack, cluster, one);
    for (const cluster of clusters) expectCompleteThread(slack, cluster);
  });

  it('complete what they work on when Redis comes back empty', { timeout: patienceMs }, async () => {
    const clusters = Array.from({ length: 6 }, (_, i) => `redis-${i}`);
    const server = await start(clusters);
    for (const cluster of clusters) expect(await server.post(await incidentBody(cluster))).toBe(200);
    await eventually(() => expect(server.output).toContain('"msg":"verdict"'));
    await install().redis.restartEmpty();
    for (const cluster of clusters) await verdictPosted(slack, cluster, server);
    for (const cluster of clusters) expectCompleteThread(slack, cluster);
  });

  it('answer 503 while the database is away, and deliver when it is back', { timeout: patienceMs }, async () => {
    const server = await start(['database']);
    const body = await incidentBody('database');
    await install().postgres.stop();
    expect(await server.post(body)).toBe(503);
    await install().postgres.start();
    await eventually(async () => expect(await server.post(body)).toBe(200));
    await verdictPosted(slack, 'database', server);
    expectCompleteThread(slack, 'database');
  });

  it('lose nothing when the database goes away in the middle of a triage', { timeout: patienceMs }, async () => {
    const server = await start(['midway']);
    expect(await server.post(await incidentBody('midway'))).toBe(200);
    await install().postgres.stop();
    await install().postgres.start();
    await verdictPosted(slack, 'midway', server);
    expectCompleteThread(slack, 'midway');
  });

  const faults: [string, Fault[]][] = [
    ['asks to wait', [{ method: 'chat.postMessage', kind: 'rate-limit', retryAfterSeconds: 1, times: 2 }]],
    ['fails', [{ method: 'chat.postMessage', kind: 'status', status: 500, times: 2 }]],
    ['posts and its answer is lost', [{ method: 'chat.postMessage', kind: 'lost', times: 2 }]],
    ['posts and answers 500', [{ method: 'chat.postMessage', kind: 'status-after-commit', status: 500 }]],
    [
      'does all of it to edits and reads',
      [
        { method: 'chat.update', kind: 'lost' },
        { method: 'chat.update', kind: 'rate-limit', retryAfterSeconds: 1 },
        { method: 'chat.postMessage', kind: 'lost' },
        { method: 'conversations.history', kind: 'status', status: 503 },
        { method: 'conversations.replies', kind: 'rate-limit', retryAfterSeconds: 1 },
        { method: 'auth.test', kind: 'reset' },
      ],
    ],
  ];
  it.each(faults)('post once when Slack %s', { timeout: patienceMs }, async (title, planned) => {
    const cluster = `slack-${title.replaceAll(' ', '-')}`;
    const server = await start([cluster]);
    for (const fault of planned) slack.faults.add(fault);
    expect(await server.post(await incidentBody(cluster))).toBe(200);
    await verdictPosted(slack, cluster, server);
    expectCompleteThread(slack, cluster);
    expect(server.output).not.toContain('"level":60');
  });
});
