import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/failed-pods-left-over.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const failed = (reason: string, ended = minutesAgo(20)) => {
  const pod = podOf('web', 'gone', { ready: false, node: 'node-gone' });
  pod.status = {
    phase: 'Failed',
    reason,
    message: 'Pod was terminated in response to imminent node shutdown.',
    containerStatuses: [{ name: 'app', state: { terminated: { exitCode: 143, finishedAt: ended } } }],
  };
  return pod;
};
const alive = [podOf('web', 'a'), podOf('web', 'b')];

test('what a shutdown or a refused admission left behind, once the replicas are complete', () => {
  for (const reason of ['Terminated', 'NodeShutdown', 'OutOfcpu', 'UnexpectedAdmissionError', 'NodeAffinity'])
    expect(findingsOf(rule, { subject, objects: [...deployment('web'), ...alive, failed(reason)] })[0]).toMatchObject({
      state: 'over',
      boundary: null,
    });
});

test('stays silent while replicas are short, the loss is young, or a pod was evicted for what was used', () => {
  const silent = (...objects: typeof alive) =>
    expectSilent(rule, { subject, objects: [...deployment('web'), ...objects] });
  silent(alive[0]!, failed('Terminated'));
  silent(alive[0]!, podOf('web', 'b', { ready: false }), failed('Terminated'));
  silent(...alive, failed('Terminated', minutesAgo(2)));
  silent(...alive, failed('Evicted'));
  silent(...alive);
});
