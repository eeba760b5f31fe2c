import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/limit-text-contradicted.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { pool, refused, subjectOf, waiting } from './nodes.ts';
import { logOf } from './workloads.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const text = refused(pod, 'all available instance types exceed limits for nodepool (NodePool=default)');
const log = (line: string) => [logOf(object('Pod', 'karpenter-1', { namespace: 'kube-system' }), line)];

test('undetermined, unless the log says why the list of types was empty', () => {
  expect(findingsOf(rule, { subject, objects: [pod, text, pool('default', { used: { cpu: '8' } })] })[0]).toMatchObject(
    { owner: 'undetermined' },
  );
  const failed = log(
    '{"level":"ERROR","error":"describing instance types, InternalError: An internal error has occurred"}',
  );
  expect(findingsOf(rule, { subject, logs: failed, objects: [pod, text, pool('default')] })[0]).toMatchObject({
    owner: 'cloud',
    strength: 'derived',
  });
  const denied = log('{"level":"ERROR","error":"describing instance types, UnauthorizedOperation: not authorized"}');
  expect(findingsOf(rule, { subject, logs: denied, objects: [pod, text, pool('default')] })[0]).toMatchObject({
    owner: 'platform',
  });
});

test('silent where the limit is true: no room for the smallest machine', () => {
  expectSilent(rule, {
    subject,
    objects: [pod, text, pool('default', { types: ['m6a.8xlarge'], limits: { cpu: '64' }, used: { cpu: '48' } })],
  });
});
