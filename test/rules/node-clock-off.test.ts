import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-clock-off.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { deployment, logOf, node, podOf, series } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const bad = podOf('web', 'a', { ready: false, node: 'node-1' });
const peer = podOf('jobs', 'a', { node: 'node-1' });
const good = podOf('web', 'b', { node: 'node-2' });
const base = [...deployment('web'), ...deployment('jobs'), bad, peer, good];
const nodes = [node('node-1'), node('node-2'), node('node-3')];
const early = 'ERROR jwt: token used before issued (iat is 90s in the future)';

test('a measured clock and a complaint on that node are the node', () => {
  expect(
    findingsOf(rule, {
      subject,
      objects: [...base, ...nodes],
      logs: [
        logOf(bad, 'RequestTimeTooSkewed: The difference between the request time and the current time is too large'),
      ],
      series: [series('node_timex_sync_status', { instance: 'node-1:9100' }, [1, 0])],
    }),
  ).toMatchObject([{ owner: 'platform', boundary: 'node', strength: 'direct', root: { name: 'node-1' } }]);
  expect(
    findingsOf(rule, {
      subject,
      objects: [...base, node('node-1', { conditions: [condition('NTPProblem', 'True')] }), ...nodes.slice(1)],
      logs: [logOf(bad, 'x509: certificate has expired or is not yet valid: clock skew')],
    }),
  ).toMatchObject([{ strength: 'direct' }]);
});

test('two workloads on one node complain and others do not: the node, derived', () => {
  expect(
    findingsOf(rule, { subject, objects: [...base, ...nodes], logs: [logOf(bad, early), logOf(peer, early)] }),
  ).toMatchObject([{ owner: 'platform', strength: 'derived' }]);
});

test('stays silent for one workload with no measure, and where pods on most nodes complain', () => {
  expectSilent(rule, { subject, objects: [...base, ...nodes], logs: [logOf(bad, early)] });
  expectSilent(rule, {
    subject,
    objects: [...base, ...nodes],
    logs: [logOf(bad, early), logOf(peer, early), logOf(good, early)],
  });
});
