import { parseArgs } from 'node:util';
import { SlackDouble } from './server.ts';

/**
 * The double as a process of its own: `node test/fakes/slack/serve.ts --port N`. Prints one JSON line when it listens.
 * `GET /control/state` shows what it holds; `POST /control/faults`, `/control/clear-faults` and `/control/click` steer it.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    channel: { type: 'string', multiple: true },
  },
});

const double = await SlackDouble.start({
  port: Number(values.port),
  ...(values.channel ? { channels: values.channel } : {}),
});
console.log(JSON.stringify({ apiUrl: double.apiUrl, botToken: double.botToken, appToken: double.appToken }));

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void double.stop().then(() => process.exit(0));
  });
