import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/taint-evicts.ts';
import { at, node, owned, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'StatefulSet', name: 'db', namespace: 'shop' } as const;
const set = object('StatefulSet', 'db', { namespace: 'shop' });
const tainted = (key: string, effect = 'NoExecute', more: object[] = []) =>
  node('n1', 'True', { spec: { taints: [{ key, value: 'true', effect, timeAdded: at('08:15') }, ...more] } });
const evicted = pod('db-0', 'n1', {
  ...owned('StatefulSet', 'db'),
  status: {
    conditions: [
      condition('DisruptionTarget', 'True', 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'),
    ],
  },
});
const said = event(
  object('Pod', 'db-0', { namespace: 'shop' }),
  'TaintManagerEviction',
  'Marking for deletion Pod shop/db-0',
  {
    type: 'Normal',
  },
);

test('a taint of the cluster’s own evicts: whoever tainted the node', () => {
  expect(
    findingsOf(rule, { subject, objects: [set, evicted, tainted('maintenance.example.com/window')] })[0],
  ).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    onset: at('08:15'),
    root: { kind: 'Node', name: 'n1' },
  });
});

test('where the pod is gone its event tells', () => {
  expect(findingsOf(rule, { subject, objects: [set, said, tainted('dedicated')] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('stays silent on an ill node, on NoSchedule, and on pods that nobody evicted', () => {
  expectSilent(rule, { subject, objects: [set, evicted, tainted('node.kubernetes.io/unreachable')] });
  expectSilent(rule, {
    subject,
    objects: [
      set,
      evicted,
      tainted('dedicated', 'NoExecute', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }]),
    ],
  });
  expectSilent(rule, { subject, objects: [set, evicted, tainted('dedicated', 'NoSchedule')] });
  expectSilent(rule, { subject, objects: [set, pod('db-0', 'n1', owned('StatefulSet', 'db')), tainted('dedicated')] });
});
