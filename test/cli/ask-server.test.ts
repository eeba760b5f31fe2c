import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { askServer } from '../../src/cli/ask-server.ts';
import { OperatorError } from '../../src/cli/operator-error.ts';
import { faultline } from './run.ts';

let server: http.Server;
const serving = (answer: http.RequestListener): Promise<string> =>
  new Promise((resolve) => {
    server = http.createServer(answer).listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
const shape = z.object({ lines: z.array(z.string()) });

it.each(['{"status":"ok"}', 'null', '[1]', '<html>', ''])(
  'another server that answers %j is told from Faultline',
  async (answer) => {
    const url = await serving((_request, response) => response.end(answer));
    const asked = askServer({ server: url, path: '/command', body: 'list', shape });
    await expect(asked).rejects.toThrow(OperatorError);
    await expect(asked).rejects.toThrow(/is no Faultline: name it with --server/);
  },
);

it('a server that takes the call and stays silent is not waited for without end', async () => {
  const url = await serving(() => {});
  const asked = askServer({ server: url, path: '/command', body: 'list', shape, timeoutMs: 50 });
  await expect(asked).rejects.toThrow(/did not answer within 0.05 s/);
});

it('an answer that breaks off is no answer', async () => {
  const url = await serving((_request, response) => {
    response.writeHead(200, { 'content-length': '99' });
    response.write('{"lines":', () => response.destroy());
  });
  await expect(askServer({ server: url, path: '/command', body: 'list', shape })).rejects.toThrow(
    /no Faultline answers/,
  );
});

it('snapshot --incident says so instead of failing on what it lacks', async () => {
  const url = await serving((_request, response) => response.end('{}'));
  const told = await faultline(['snapshot', '--incident', 'ab', '--server', url, '--out', '/tmp/never-written']);
  expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining('is no Faultline') });
});
