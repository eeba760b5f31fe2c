import { expect, test } from 'vitest';
import rule from '../../src/rules/app/replica-surge.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, node, podOf, series } from './workloads.ts';

const app = (replicas = 60) => deployment('web', { replicas, age: 70, before: {} });
const scaled = (from: number, to: number) =>
  event(app()[0]!, 'ScalingReplicaSet', `Scaled up replica set web-2 from ${from} to ${to}`, { at: minutesAgo(40) });
const hpa = (metric: any) =>
  object('HorizontalPodAutoscaler', 'web', {
    namespace: 'shop',
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, metrics: [metric] },
  });
const cpu = hpa({ type: 'Resource', resource: { name: 'cpu' } });
const lag = hpa({ type: 'External', external: { metric: { name: 'queue_lag' } } });
const requests = (values: number[]) => series('http_requests_total', { namespace: 'shop', service: 'web' }, values);
const flat = [0, 1, 2, 3, 4, 5, 6, 7].map((value) => value * 1000);
const grown = [0, 1, 2, 3, 7, 12, 18, 25].map((value) => value * 1000);
const subject = { kind: 'Node', name: 'node-1' };
const base = [podOf('web', 'a'), node('node-1')];

test('a scale-up by hand that floods the nodes is the application’s', () => {
  const [finding] = findingsOf(rule, { subject, objects: [...app(), ...base, scaled(6, 60)] });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'traffic' });
  expect(finding?.explains).toEqual(expect.arrayContaining(['node-pressure', 'pending', 'eviction']));
});

test('behind an HPA on CPU it is load where requests grew, the release where they did not', () => {
  const objects = [...app(), ...base, scaled(6, 60), cpu];
  expect(findingsOf(rule, { subject, objects, series: [requests(grown)] })[0]).toMatchObject({
    owner: 'app',
    boundary: 'traffic',
  });
  expect(findingsOf(rule, { subject, objects, series: [requests(flat)] })[0]).toMatchObject({
    owner: 'app',
    boundary: 'application',
  });
});

test('behind an external metric nobody is named, and the history to read is', () => {
  const [finding] = findingsOf(rule, { subject, objects: [...app(), ...base, scaled(6, 60), lag] });
  expect(finding).toMatchObject({ owner: 'undetermined', boundary: 'autoscaling' });
  expect(finding?.missing[0]?.missing).toContain('queue_lag');
});

test('stays silent for ordinary scaling, a memory leak and growth of long ago', () => {
  expectSilent(rule, { subject, objects: [...app(12), ...base, scaled(8, 12)] });
  const climb = series(
    'container_memory_working_set_bytes',
    { namespace: 'shop', pod: 'web-2-a', container: 'app' },
    [4e8, 6e8, 8e8, 10e8, 12e8, 14e8, 16e8],
  );
  expectSilent(rule, { subject, objects: [...app(), ...base, scaled(6, 60)], series: [climb] });
  const old = event(app()[0]!, 'ScalingReplicaSet', 'Scaled up replica set web-2 from 6 to 60', {
    at: minutesAgo(60 * 20),
  });
  expectSilent(rule, { subject, objects: [...app(), ...base, old] });
});

test('a consumer that cannot take its messages drives its own lag; one that waits for a database is not meant', () => {
  const objects = [...app(), ...base, scaled(6, 60), lag];
  const judged = (words: string, ...rates: ReturnType<typeof series>[]) =>
    findingsOf(rule, { subject, objects, logs: [logOf(podOf('web', 'a'), words)], series: rates })[0];
  const fell = series('web_processed_messages_per_second', { namespace: 'shop' }, [60, 61, 60, 61, 2, 1, 1, 1]);
  const level = series('kafka_topic_produced_messages_per_second', { topic: 'web' }, [62, 63, 62, 63, 64, 62, 63, 62]);
  for (const words of [
    'ERROR decode message partition=2 offset=88: unknown field "x"; not committed, retrying',
    'org.apache.kafka.common.errors.SerializationException: Error deserializing Avro message for id 7',
    'WARN delivery 12 could not be handled, requeue=true',
  ]) {
    expect(judged(words, fell, level)).toMatchObject({ owner: 'app', boundary: 'application', strength: 'direct' });
    expect(judged(words)).toMatchObject({ owner: 'app', strength: 'derived' });
  }
  expect(judged('INFO handled 12 messages')).toMatchObject({ owner: 'undetermined' });
  expect(
    judged('ERROR message 12 not acked: dial tcp 10.0.0.9:5432: connect: connection refused', fell, level),
  ).toMatchObject({ owner: 'undetermined' });
});
