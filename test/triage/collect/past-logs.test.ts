import { describe, expect, it } from 'vitest';
import { ClusterFacts } from '../../../src/facts/cluster.ts';
import { pastLogsWanted } from '../../../src/triage/collect/past-logs.ts';
import { condition, event, factsOf, now, object, type Situation } from '../../rules/harness.ts';
import { crashing, deployment, logOf, minutesAgo, podOf } from '../../rules/workloads.ts';

const subject = { kind: 'Deployment', name: 'chat', namespace: 'shop' };
const wanted = (situation: Omit<Situation, 'subject'>) =>
  pastLogsWanted(new ClusterFacts(factsOf({ subject, ...situation })));

describe('a restarted container', () => {
  const pod = podOf('chat', 'a', { ready: false, status: crashing(1) });
  const objects = [...deployment('chat'), pod];

  it('is asked about where its former log could not be read, up to its end', () => {
    expect(wanted({ objects, logs: [logOf(pod, 'started')] })).toEqual([
      {
        namespace: 'shop',
        pod: 'chat-2-a',
        container: 'app',
        previous: true,
        since: expect.stringContaining('2026-11-20T07:57:00'),
        until: expect.stringContaining('2026-11-20T08:28:00'),
      },
    ]);
  });

  it('is not where the kubelet gave that log', () => {
    expect(wanted({ objects, logs: [logOf(pod, 'panic', { previous: true })] })).toEqual([]);
  });
});

describe('a pod without a log', () => {
  const failed = podOf('chat', 'a', { ready: false });
  failed.status.phase = 'Failed';
  const silent = object('Node', 'node-1', {
    status: { conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown', '', minutesAgo(12))] },
  });

  it('is asked about when it failed, and not when it has one', () => {
    const objects = [...deployment('chat'), failed];
    expect(wanted({ objects })).toMatchObject([{ pod: 'chat-2-a', previous: false }]);
    expect(wanted({ objects, logs: [logOf(failed, 'out of disk')] })).toEqual([]);
  });

  it('is asked about on a silent node, around the time it fell silent; not on one that answers', () => {
    const pod = podOf('chat', 'a', { ready: false });
    const [log] = wanted({ objects: [...deployment('chat'), pod, silent] });
    expect(log).toMatchObject({ pod: 'chat-2-a', since: expect.stringContaining('2026-11-20T07:48:00') });
    const answers = object('Node', 'node-1', { status: { conditions: [condition('Ready', 'True')] } });
    expect(wanted({ objects: [...deployment('chat'), pod, answers] })).toEqual([]);
  });
});

describe('pods that are gone', () => {
  const hash = '7d9c5b8f6d';
  const past = (suffix: string) => object('Pod', `chat-${hash}-${suffix}`, { namespace: 'shop' });
  const killed = (suffix: string, minutes: number) =>
    event(past(suffix), 'Killing', 'Stopping container app', { type: 'Normal', at: minutesAgo(minutes) });
  const pulled = (suffix: string, minutes: number) =>
    event(past(suffix), 'Pulled', 'Container image already present', { type: 'Normal', at: minutesAgo(minutes) });

  it('are four at most: those that events tell trouble of first, then the latest', () => {
    const events = [
      pulled('bbbbb', 1),
      killed('ccccc', 20),
      killed('ddddd', 10),
      pulled('fffff', 2),
      pulled('ggggg', 3),
    ];
    expect(wanted({ objects: [...deployment('chat'), ...events] }).map(({ pod }) => pod.slice(-5))).toEqual([
      'ddddd',
      'ccccc',
      'bbbbb',
      'fffff',
    ]);
  });

  it('are named by what a controller says, and read no later than now', () => {
    const set = object('ReplicaSet', 'chat-2', { namespace: 'shop' });
    const deleted = event(set, 'SuccessfulDelete', `Deleted pod: chat-${hash}-bbbbb`, {
      type: 'Normal',
      at: minutesAgo(2),
    });
    const [log] = wanted({ objects: [...deployment('chat'), deleted] });
    expect(log).toMatchObject({ namespace: 'shop', pod: `chat-${hash}-bbbbb`, previous: false });
    expect(Date.parse(log!.until)).toBe(Date.parse(now));
  });

  it('are not those of a workload with a longer name, nor any that still exist', () => {
    const other = object('Pod', `chat-web-${hash}-bbbbb`, { namespace: 'shop' });
    const foreign = event(other, 'Killing', 'Stopping container app', { at: minutesAgo(5) });
    const alive = podOf('chat', 'a');
    const live = event(alive, 'Unhealthy', 'Readiness probe failed', { at: minutesAgo(5) });
    expect(wanted({ objects: [...deployment('chat'), ...deployment('chat-web'), alive, foreign, live] })).toEqual([]);
  });
});
