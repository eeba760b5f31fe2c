import { expect, test } from 'vitest';
import rule from '../../src/rules/app/application-errors.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { crashing, deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const app = deployment('web', { age: 60 * 24 * 5, before: {} });
const pod = podOf('web', 'a', { age: 60 * 24 * 4 });
const line = (words: string, minute = 15) => `2026-11-20T08:${minute}:00.000Z ERROR ${words}`;
const errors = (words: string) => [line(words), line(words, 20)].join('\n');

test('exceptions in code with steady pods are the application’s, with the flag or rollout they follow', () => {
  const log = `2026-11-20T08:14:40Z INFO feature flag checkout_v2 enabled for 100%\n${errors("GET /cart 500 KeyError: 'total' at cart.py:88")}`;
  const [finding] = findingsOf(rule, { subject, objects: [...app, pod], logs: [logOf(pod, log)] });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'application', strength: 'direct' });
  expect(finding?.cause.en).toContain('checkout_v2');
  const rolled = findingsOf(rule, {
    subject,
    objects: [...deployment('web', { age: 30, before: {} }), pod],
    logs: [logOf(pod, errors('500 TypeError: undefined is not a function'))],
  });
  expect(rolled[0]?.cause.en).toContain('rollout');
});

test('5xx without a word about the code is less sure', () => {
  expect(
    findingsOf(rule, {
      subject,
      objects: [...app, pod],
      logs: [logOf(pod, errors('GET /cart status=500 took 12ms'))],
    })[0]?.strength,
  ).toBe('derived');
});

test('stays silent for words about surroundings, a single line, old lines and crashing pods', () => {
  for (const words of [
    '500 ConnectTimeoutException: timed out',
    'SSLError: certificate verify failed',
    'ECONNREFUSED 10.0.0.1:5432 Error: connect',
  ])
    expectSilent(rule, { subject, objects: [...app, pod], logs: [logOf(pod, errors(words))] });
  expectSilent(rule, { subject, objects: [...app, pod], logs: [logOf(pod, line('500 ValueError: x'))] });
  expectSilent(rule, {
    subject,
    objects: [...app, pod],
    logs: [logOf(pod, errors('500 ValueError: x').replaceAll('T08:', 'T02:'))],
  });
  const down = podOf('web', 'b', { ready: false, status: crashing(1) });
  expectSilent(rule, { subject, objects: [...app, down], logs: [logOf(down, errors('500 ValueError: x'))] });
});

test('what a peer or the vendor answered is no error of the program’s own code', () => {
  for (const words of [
    'GET http://tariff-api/v1 502',
    'request to https://ledger.payments.svc:8443/entries failed with status 503',
    'PutRecords: InternalFailure: unknown error, exception or failure. (Service: Kinesis; Status Code: 500)',
  ])
    expectSilent(rule, { subject, objects: [...app, pod], logs: [logOf(pod, errors(words))] });
  expect(
    findingsOf(rule, { subject, objects: [...app, pod], logs: [logOf(pod, errors('GET /v1/rates 500 in 3 ms'))] }),
  ).toHaveLength(1);
});

test('a store’s refusal in the client’s exception is less sure', () => {
  const words = "POST /carts 500 ReplyError: OOM command not allowed when used memory > 'maxmemory'.";
  expect(findingsOf(rule, { subject, objects: [...app, pod], logs: [logOf(pod, errors(words))] })).toMatchObject([
    { owner: 'app', strength: 'derived' },
  ]);
});
