import { describe, expect, it } from 'vitest';
import { SlackDouble } from '../fakes/slack/server.ts';
import { freePort } from '../services/free-port.ts';
import { Faultline } from './faultline.ts';
import { describeEmbedded } from './installs.ts';
import {
  clusterOf,
  eventually,
  expectCompleteThread,
  incidentBody,
  patienceMs,
  settings,
  verdictPosted,
} from './workspace.ts';

const quiet = { PORT: '0', ALERTMANAGER_WEBHOOK_TOKEN: 'a-token' };

describeEmbedded('a second process', (install) => {
  it('on the same folder refuses to start and names the setting that helps', { timeout: patienceMs }, async () => {
    const env: Record<string, string> = { ...quiet, ...install().env };
    const first = await Faultline.start({ env });
    const pid = /process (\d+)/;
    const refusal = await Faultline.start({ env }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(/ended with 2/);
    expect(refusal).toContain(`The embedded database in ${env.DATA_DIR} is in use by process`);
    expect(pid.exec(refusal)?.[1]).toBe(String(first.pid));
    expect(refusal).toContain('DATABASE_URL=postgres://');
    expect(refusal).not.toContain('    at ');

    await first.kill();
    const heir = await Faultline.start({ env });
    expect(await heir.stop()).toBe(0);
  });
});

describe('a worker', () => {
  it('without a database to share refuses to start and names the setting', { timeout: patienceMs }, async () => {
    const start = Faultline.start({ env: quiet, command: 'worker' });
    await expect(start).rejects.toThrow(/worker ended with 2:\n.*set DATABASE_URL/);
  });

  it('with a database that does not answer says so, without a stack', { timeout: patienceMs }, async () => {
    const env = { ...quiet, DATABASE_URL: 'postgres://faultline:hunter2@127.0.0.1:1/faultline' };
    const refusal = await Faultline.start({ env, command: 'worker' }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(/ended with 2:\nthe database cannot be reached: .*ECONNREFUSED/);
    expect(refusal).toContain('set DATABASE_URL to a PostgreSQL that answers');
    expect(refusal).not.toMatch(/hunter2|\n {4}at /);
  });
});

describeEmbedded('a server whose Slack is away when it starts', (install) => {
  it('starts all the same, takes alerts, and posts when Slack answers', { timeout: patienceMs }, async () => {
    const port = await freePort();
    const first = await SlackDouble.start({ port });
    const env = { ...settings(first, [clusterOf('patient')]), ...install().env };
    await first.stop();
    const server = await Faultline.start({ env });
    expect(server.output).toContain('Slack does not answer yet');
    expect(await server.post(await incidentBody('patient'))).toBe(200);
    await eventually(() => expect(server.output).toContain('"msg":"verdict"'));
    const slack = await SlackDouble.start({ port });
    try {
      await verdictPosted(slack, 'patient', server);
      await eventually(() => expect(server.output).toContain('Slack answers: connected'));
      expectCompleteThread(slack, 'patient');
      expect(await server.stop()).toBe(0);
    } finally {
      await slack.stop();
    }
  });

  it('stops at once while it still waits for Slack', { timeout: patienceMs }, async () => {
    const gone = await SlackDouble.start();
    const env = { ...settings(gone, [clusterOf('waiting')]), ...install().env };
    await gone.stop();
    const server = await Faultline.start({ env });
    expect(await server.stop()).toBe(0);
  });
});
