import { expect, test } from 'vitest';
import rule from '../../src/rules/app/pod-larger-than-any-node.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { node, pool, refused, subjectOf, waiting } from './nodes.ts';
import { deployment } from './workloads.ts';

const asks = (
  memory: string,
  before: string | undefined,
  options: { age?: number; meta?: any; message?: string } = {},
) => {
  const container = (amount: string) => ({ resources: { requests: { memory: amount } } });
  const objects = deployment('report', {
    age: options.age ?? 25,
    container: container(memory),
    before: before ? { container: container(before) } : undefined,
    meta: options.meta,
  });
  const set = objects.find((entry) => entry.kind === 'ReplicaSet')!;
  const pod = waiting('report-1', {
    owner: set,
    requests: { memory },
    message: options.message ?? '0/1 nodes are available: 1 Insufficient memory.',
  });
  return { pod, objects: [...objects, pod, node('n1', { pool: 'default' })], subject: subjectOf(pod) };
};
const text = (kind: string) =>
  `incompatible with nodepool "default", daemonset overhead={}, ${kind}, requirements=karpenter.sh/nodepool In [default], resources={"memory":"640Gi"}`;
const enough = text('no instance type has enough resources');
const types = ['r6i.xlarge', 'r6i.16xlarge'];

test('a request that grew with the rollout: the app’s, with both amounts', () => {
  const { pod, objects, subject } = asks('640Gi', '24Gi');
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...objects, pool('default', { types }), refused(pod, enough)],
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
  expect(finding?.cause.en).toMatch(/640Gi.*512Gi.*24Gi/);
});

test('the ambiguous text counts only with the sizes of the pool’s types', () => {
  const ambiguous = text(
    'no instance type met the scheduling requirements or had enough resources or had a required offering',
  );
  const big = asks('640Gi', '24Gi');
  expect(
    findingsOf(rule, {
      subject: big.subject,
      objects: [...big.objects, pool('default', { types }), refused(big.pod, ambiguous)],
    }),
  ).toHaveLength(1);
  const small = asks('8Gi', '4Gi');
  expectSilent(rule, {
    subject: small.subject,
    objects: [...small.objects, pool('default', { types }), refused(small.pod, ambiguous)],
  });
});

test('the pool’s types were cut, the request stayed: the platform’s', () => {
  const meta = { status: { conditions: [condition('Progressing', 'True', 'NewReplicaSetAvailable')] } };
  const { pod, objects, subject } = asks('48Gi', undefined, { age: 60 * 24 * 50, meta });
  expect(
    findingsOf(rule, {
      subject,
      objects: [...objects, pool('default', { types: ['m6a.large'], written: 30 }), refused(pod, enough)],
    })[0],
  ).toMatchObject({ owner: 'platform', mechanism: 'pool-mismatch' });
});

test('without pools, the largest node that fits is the measure', () => {
  const { objects, subject } = asks('64Gi', '8Gi');
  expect(findingsOf(rule, { provider: 'gke', subject, objects })[0]).toMatchObject({ owner: 'app' });
  const fits = asks('10Gi', '8Gi');
  expectSilent(rule, { provider: 'gke', subject: fits.subject, objects: fits.objects });
});
