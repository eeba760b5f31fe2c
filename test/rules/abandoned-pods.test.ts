import { expect, test } from 'vitest';
import rule from '../../src/rules/app/abandoned-pods.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, node, podOf } from './workloads.ts';

const launcher = podOf('launcher', 'a');
const bare = (count: number, bound = true) =>
  Array.from({ length: count }, (_, index) =>
    object('Pod', `run-${bound ? 'old' : 'new'}-${index}`, {
      namespace: 'shop',
      creationTimestamp: minutesAgo(600 - index),
      spec: bound ? { nodeName: 'node-1' } : {},
      status: {
        phase: bound ? 'Running' : 'Pending',
        conditions: bound ? [] : [condition('PodScheduled', 'False', 'Unschedulable')],
      },
    }),
  );
const pool = object('NodePool', 'runs', { status: { resources: { cpu: '48' } } });
const machine = node('node-1', { labels: { 'karpenter.sh/nodepool': 'runs' } });
const words =
  '2026-11-20T08:00:00Z WARN launch abandoned id=run-old-1 reason="not ready within 45s" action=requeue\n2026-11-20T08:29:00Z INFO sweep done tracked=2 deleted=0';
const subject = { kind: 'Pod', name: 'run-new-0', namespace: 'shop' };
const objects = (pods: ReturnType<typeof bare>) => [...deployment('launcher'), launcher, machine, pool, ...pods];

test('pods that their controller no longer tracks explain a pool at its limit', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: objects([...bare(20), ...bare(2, false)]),
    logs: [logOf(launcher, words)],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', root: { name: 'launcher' } });
  expect(finding?.explains).toContain('pool-limit');
  expect(finding?.cause.en).toContain('20 pods run, it tracks 2');
});

test('stays silent where the controller tracks them all, and where it says nothing of letting go', () => {
  expectSilent(rule, {
    subject,
    objects: objects(bare(20)),
    logs: [logOf(launcher, words.replace('tracked=2', 'tracked=19'))],
  });
  expectSilent(rule, {
    subject,
    objects: objects(bare(20)),
    logs: [logOf(launcher, '2026-11-20T08:29:00Z INFO sweep done tracked=2')],
  });
});
