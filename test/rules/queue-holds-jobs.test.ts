import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/queue-holds-jobs.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const label = { 'kueue.x-k8s.io/queue-name': 'research' };
const job = object('Job', 'train-1', { namespace: 'ml', labels: label, creationTimestamp: minutesAgo(50), spec: {} });
const suspended = { ...job, spec: { suspend: true } };
const owner = [{ kind: 'Job', name: 'train-1', uid: job.metadata.uid, controller: true }];
const pod = object('Pod', 'train-1-a', {
  namespace: 'ml',
  ownerReferences: owner,
  creationTimestamp: minutesAgo(50),
  spec: { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] },
  status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] },
});
const local = (rest: object = {}) =>
  object('LocalQueue', 'research', { namespace: 'ml', spec: { clusterQueue: 'gpu', ...rest } });
const cluster = (spec: object, status: object = {}) => object('ClusterQueue', 'gpu', { spec, status });
const record = (message: string) =>
  object('Workload', 'job-train-1', {
    namespace: 'ml',
    ownerReferences: owner,
    spec: { queueName: 'research' },
    status: { conditions: [condition('QuotaReserved', 'False', 'Pending', message)] },
  });
const subject = { kind: 'Job', name: 'train-1', namespace: 'ml' };
const judged = (...objects: ReturnType<typeof object>[]) => findingsOf(rule, { subject, objects })[0];

test('a stopped or broken queue is the platform’s, for gated pods and for suspended jobs', () => {
  const stopped = cluster({ stopPolicy: 'HoldAndDrain' });
  expect(judged(job, pod, local(), stopped)).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(judged(suspended, local(), stopped)).toMatchObject({ owner: 'platform', boundary: 'scheduling' });
  const broken = cluster({}, { conditions: [condition('Active', 'False', 'FlavorNotFound', 'no flavor h100')] });
  expect(judged(suspended, local(), broken)?.cause.en).toContain('FlavorNotFound');
  expect(judged(suspended, local({ stopPolicy: 'Hold' }), cluster({}))?.owner).toBe('app');
});

test('a queue that does not exist or can never hold the job is the job’s; a full one is a normal wait', () => {
  expect(judged(suspended, record("LocalQueue research doesn't exist"))).toMatchObject({ owner: 'app' });
  expect(
    judged(suspended, local(), cluster({}), record('insufficient quota for cpu, request > maximum capacity (64)')),
  ).toMatchObject({ owner: 'app', boundary: 'scheduling' });
  expect(
    judged(
      suspended,
      local(),
      cluster({}),
      record('insufficient unused quota for cpu in flavor default, 4 more needed'),
    ),
  ).toMatchObject({ state: 'expected', owner: 'undetermined' });
});

test('silent for other gates and for a job that was suspended by hand', () => {
  const other = { ...pod, spec: { schedulingGates: [{ name: 'example.com/quota' }] } };
  expectSilent(rule, { subject, objects: [job, other, local(), cluster({ stopPolicy: 'Hold' })] });
  const plain = object('Job', 'train-1', { namespace: 'ml', spec: { suspend: true } });
  expectSilent(rule, { subject, objects: [plain, local(), cluster({ stopPolicy: 'Hold' })] });
});
