import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkSlack } from '../../../src/cli/doctor/neighbours.ts';
import { configOf } from '../../fakes/handler-deps.ts';
import { SlackDouble } from '../../fakes/slack/server.ts';

let slack: SlackDouble;
beforeEach(async () => {
  slack = await SlackDouble.start();
});
afterEach(() => slack.stop());

/** What doctor says of Slack with these settings: `name status detail`, and the fix. */
const checked = async (settings: Record<string, string>): Promise<string[]> => {
  const yaml = Object.entries({ apiUrl: slack.apiUrl, ...settings }).map(([key, value]) => `${key}: "${value}"`);
  const { checks } = await checkSlack(configOf(`slack: {${yaml.join(', ')}}`));
  return checks.map(({ name, status, detail, fix }) => `${name} ${status}: ${detail}${fix ? ` (${fix})` : ''}`);
};

describe('doctor on Slack', () => {
  test('tries both tokens', async () => {
    const { botToken, appToken } = slack;
    expect(await checked({ botToken, appToken })).toEqual([
      expect.stringMatching(/^token ok: /),
      'Socket Mode ok: SLACK_APP_TOKEN opens a connection',
    ]);
    expect(slack.workspace.calls.map(({ method }) => method)).toEqual(['auth.test', 'apps.connections.open']);
  });

  test('tells an app token that Slack refuses', async () => {
    const { botToken } = slack;
    const [token, wrong] = await checked({ botToken, appToken: 'xapp-of-another-app' });
    expect(token).toMatch(/^token ok/);
    expect(wrong).toMatch(/^Socket Mode failed: .*invalid_auth \(set SLACK_APP_TOKEN to an app-level token/);
  });

  test('over HTTP says where requests go', async () => {
    const { botToken } = slack;
    expect((await checked({ botToken, signingSecret: 's' }))[1]).toMatch(/^requests over HTTP ok: .*\/slack\/events/);
  });

  test('says that Slack cannot be reached', async () => {
    const { botToken, appToken, apiUrl } = slack;
    await slack.stop();
    slack = await SlackDouble.start();
    const said = await checked({ apiUrl, botToken, appToken });
    expect(said).toEqual([expect.stringMatching(/^token failed: /), expect.stringMatching(/^Socket Mode failed: /)]);
  });
});
