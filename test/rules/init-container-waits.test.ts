import { expect, test } from 'vitest';
import rule from '../../src/rules/app/init-container-waits.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const subject = { kind: 'Pod', name: 'portal-1', namespace: 'shop' };
const pod = (minutes: number, init: Record<string, any> = {}) =>
  object('Pod', 'portal-1', {
    namespace: 'shop',
    creationTimestamp: minutesAgo(minutes),
    spec: { nodeName: 'n1', initContainers: [{ name: 'wait', args: ['job', 'migrate-21'], ...init }], containers: [] },
    status: {
      phase: 'Pending',
      conditions: [condition('Initialized', 'False', 'ContainersNotInitialized'), condition('Ready', 'False')],
      initContainerStatuses: [
        { name: 'wait', restartCount: 0, state: { running: { startedAt: minutesAgo(minutes) } } },
      ],
    },
  });
const job = (type: string) =>
  object('Job', 'migrate-21', { namespace: 'shop', status: { conditions: [condition(type, 'True')] } });

test('the failed job that it waits for is the cause', () => {
  expect(findingsOf(rule, { subject, objects: [pod(40), job('Failed')] })[0]).toMatchObject({
    owner: 'app',
    strength: 'direct',
    root: { kind: 'Job', name: 'migrate-21' },
  });
});

test('without one, what it waits for is open and named as the read that would tell', () => {
  expect(findingsOf(rule, { subject, objects: [pod(40), job('Complete')] })[0]).toMatchObject({
    owner: 'undetermined',
    missing: [{ layer: 'app' }],
  });
});

test('silent in its first minutes, and for a native sidecar', () => {
  expectSilent(rule, { subject, objects: [pod(4), job('Failed')] });
  expectSilent(rule, { subject, objects: [pod(40, { restartPolicy: 'Always' }), job('Failed')] });
});
