import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pool-makes-smaller-nodes.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { claim, node, pool, running } from './nodes.ts';

const subject = { kind: 'NodePool', name: 'default' };
const nodes = (age: number, perNode: number) =>
  [1, 2, 3, 4, 5].flatMap((index) => [
    claim(`default-${index}`, 'default', { age, node: `n${index}`, type: 'm7a.medium' }),
    node(`n${index}`, { pool: 'default', age }),
    running(`agent-${index}`, `n${index}`, {
      ownerReferences: [{ kind: 'DaemonSet', name: 'agent' }],
      spec: { nodeName: `n${index}`, containers: [{ name: 'a', resources: { requests: { cpu: '400m' } } }] },
    }),
    ...Array.from({ length: perNode }, (_, pod) => running(`web-${index}-${pod}`, `n${index}`)),
  ]);

test('small machines since the change, one pod on each', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [pool('default', { types: ['m7a.medium'], written: 120 }), ...nodes(60, 1)],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(finding?.cause.en).toContain('m7a.medium');
});

test('silent where the nodes are older than the change, the types are large, or the nodes are well filled', () => {
  expectSilent(rule, {
    subject,
    objects: [pool('default', { types: ['m7a.medium'], written: 120 }), ...nodes(600, 1)],
  });
  expectSilent(rule, {
    subject,
    objects: [pool('default', { types: ['m7a.4xlarge'], written: 120 }), ...nodes(60, 1)],
  });
  expectSilent(rule, { subject, objects: [pool('default', { types: ['m7a.medium'], written: 120 }), ...nodes(60, 6)] });
});
