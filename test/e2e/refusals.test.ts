import { describe, expect, it } from 'vitest';
import { Faultline } from './faultline.ts';
import { describeEmbedded } from './installs.ts';
import { patienceMs } from './workspace.ts';

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
