import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlackDouble } from '../fakes/slack/server.ts';
import {
  type AlertmanagerService,
  hasAlertmanager,
  type PostedAlert,
  startAlertmanager,
} from '../services/alertmanager.ts';
import { Faultline, webhookToken } from './faultline.ts';
import { embedded, type Install } from './installs.ts';
import {
  clusterOf,
  completeThread,
  eventually,
  messageOf,
  messages,
  patienceMs,
  settings,
  slots,
  verdictPosted,
} from './workspace.ts';

const minuteMs = 60_000;
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** An alert about one pod of the Deployment that the incident is about. */
const alertOf = (cluster: string, pod: string, times: Pick<PostedAlert, 'startsAt' | 'endsAt'>): PostedAlert => ({
  labels: {
    alertname: 'ContainerRestartsHigh',
    severity: 'warning',
    cluster,
    namespace: 'catalog',
    pod: `catalog-api-rc5wbnkhc-${pod}`,
    container: 'api',
  },
  annotations: { summary: 'Container restarts repeatedly' },
  ...times,
});

describe.skipIf(!hasAlertmanager())('from a real Alertmanager to the thread', () => {
  let install: Install;
  let owners: string;
  let slack: SlackDouble;
  let server: Faultline;
  let alertmanager: AlertmanagerService;
  const loud = ['observed', 'posted', 'paged'] as const;

  beforeAll(async () => {
    install = await embedded();
    owners = await mkdtemp(join(tmpdir(), 'faultline-owners-'));
    await writeFile(join(owners, 'teams.yaml'), 'teams: {catalog: {name: Catalog, mention: S0CATALOG1}}\n');
    await writeFile(join(owners, 'apps.yaml'), 'namespaces: {catalog: catalog}\n');
    slack = await SlackDouble.start();
    const clusters = [
      clusterOf('story'),
      clusterOf('observed', { mode: 'observe' }),
      clusterOf('posted', { mode: 'post' }),
      clusterOf('paged', { mode: 'page' }),
    ];
    server = await Faultline.start({
      env: { ...settings(slack, clusters), ...install.env, FAULTLINE_OWNERS_DIR: owners },
    });
    const url = `${server.url}/webhooks/alertmanager`;
    alertmanager = await startAlertmanager({ url, bearerToken: webhookToken });
  }, patienceMs);
  afterAll(async () => {
    await alertmanager?.stop();
    await server?.stop();
    await slack?.stop();
    await install?.remove();
    await rm(owners, { recursive: true, force: true });
  });

  /** How many notifications changed an incident in this way. */
  const changes = async (change: string): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(
      new RegExp(`^faultline_incident_changes_total{change="${change}"} (\\S+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  };
  const root = () => messageOf(slack, 'story', 'root');
  const cardOf = (message: { blocks?: unknown[] }): string => JSON.stringify(message.blocks);
  const posted = () => slack.count('chat.postMessage');

  /** The thread has had all its messages posted, each once, and nothing waits to be sent. */
  const settled = async (later: string[] = []): Promise<void> => {
    await verdictPosted(slack, 'story', server);
    expect(slots(slack, 'story')).toEqual([...completeThread, ...later]);
  };

  describe('one incident', { timeout: patienceMs }, () => {
    const first = { startsAt: ago(10 * minuteMs) };
    const second = { startsAt: ago(5 * minuteMs) };
    let rootTs: string;

    it('fires: a root message, and a reply for each thing to say', async () => {
      await alertmanager.post([alertOf('story', 'n4t24', first)]);
      await settled();
      expect(root().text).toMatch(/^Warning: ContainerRestartsHigh.*Firing\. Owner: Catalog/);
      rootTs = root().ts;
      expect(
        messages(slack, 'story')
          .slice(1)
          .map((message) => message.thread_ts),
      ).toEqual(completeThread.slice(1).map(() => rootTs));
    });

    it('is sent again: nothing is said', async () => {
      const before = { posted: posted(), edited: slack.count('chat.update'), unchanged: await changes('unchanged') };
      await eventually(async () => expect(await changes('unchanged')).toBeGreaterThan(before.unchanged + 1));
      expect({ posted: posted(), edited: slack.count('chat.update') }).toEqual({
        posted: before.posted,
        edited: before.edited,
      });
    });

    it('takes an alert that joins the group: the root is edited', async () => {
      const before = posted();
      await alertmanager.post([alertOf('story', '7g4xp', second)]);
      await eventually(() => expect(cardOf(root())).toContain('2 of 2 alerts firing'));
      await settled();
      expect(posted()).toBe(before);
    });

    it('resolves in part: it stays open', async () => {
      await alertmanager.post([alertOf('story', '7g4xp', { ...second, endsAt: new Date().toISOString() })]);
      await eventually(() => expect(cardOf(root())).toContain('1 of 2 alerts firing'));
      expect(root().text).toContain('Firing');
    });

    it('is acknowledged by a click in Slack, and the root says by whom', async () => {
      const click = { channel: '#story', ts: rootTs, actionId: 'acknowledge', user: 'U0ALICE01' };
      expect(await slack.click(click)).toMatchObject({ acknowledged: true });
      await eventually(() => expect(cardOf(root())).toContain('"user_id":"U0ALICE01"'));
    });

    it('resolves: the root says so, and a summary closes the thread', async () => {
      await alertmanager.post([alertOf('story', 'n4t24', { ...first, endsAt: new Date().toISOString() })]);
      await eventually(() => expect(root().text).toContain('Resolved'));
      await eventually(() => expect(messageOf(slack, 'story', 'closing').text).toContain('is resolved after'));
    });

    it('fires again: the same thread goes on', async () => {
      const run = await changes('refired');
      await alertmanager.post([alertOf('story', 'n4t24', { startsAt: new Date().toISOString() })]);
      await eventually(() => expect(root().text).toContain('Firing, fired again once'));
      await eventually(() => expect(server.output).toMatch(/"run":2,.*"msg":"verdict"/));
      expect(await changes('refired')).toBe(run + 1);
    });

    it('ends with one root, edited in place, and each reply once; the summary says that it is open again', async () => {
      await settled(['closing']);
      expect(messageOf(slack, 'story', 'closing').text).toContain('open again');
      expect(root().ts).toBe(rootTs);
      expect(slack.workspace.roots('#story')).toHaveLength(1);
      expect(root().edits).toBeGreaterThan(5);
    });
  });

  it('mentions the owner in the verdict, once, and only where the cluster says page', {
    timeout: patienceMs,
  }, async () => {
    await alertmanager.post(loud.map((cluster) => alertOf(cluster, 'n4t24', { startsAt: ago(minuteMs) })));
    for (const cluster of loud) await verdictPosted(slack, cluster, server);
    const mentioning = loud.flatMap((cluster) =>
      messages(slack, cluster)
        .filter((message) => /<!subteam|<@|<!here|<!channel/.test(message.text + cardOf(message)))
        .map((message) => `${cluster} ${message.metadata?.event_payload.slot}`),
    );
    expect(mentioning).toEqual(['paged verdict']);
    expect(cardOf(messageOf(slack, 'paged', 'verdict'))).toContain('<!subteam^S0CATALOG1>');
  });
});
