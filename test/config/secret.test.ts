import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

it('prints every secret of a configuration as [redacted], however it is printed', () => {
  const env = {
    DATABASE_URL: 'postgres://u:hunter2@db/x',
    REDIS_URL: 'redis://:hunter2@r',
    SLACK_BOT_TOKEN: 'xoxb-hunter2',
    SLACK_APP_TOKEN: 'xapp-hunter2',
    SLACK_SIGNING_SECRET: 'hunter2',
    ALERTMANAGER_WEBHOOK_TOKEN: 'hunter2-a',
    FAULTLINE_WEBHOOK_TOKENS: '[{name: eu, token: hunter2-b}]',
    FAULTLINE_CONFIG: '/empty',
  };
  const loaded = loadConfig(env, () => '');
  if (!loaded.ok) throw new Error('a right configuration was refused');
  const { config } = loaded;
  const prints = [
    JSON.stringify(config),
    inspect(config, { depth: null, showHidden: true }),
    format('%o %j %s', config, config, config.databaseUrl),
    `${config.slack.botToken}`,
    String(Object.entries(config.slack.signingSecret ?? {})),
  ];
  expect(prints.join('\n')).not.toContain('hunter2');
  expect(JSON.stringify(config).match(/\[redacted\]/g)).toHaveLength(7);
  expect(config.databaseUrl?.reveal()).toBe('postgres://u:hunter2@db/x');
});
