import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-expiry-ends-pods.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { pool } from './nodes.ts';

const subject = { kind: 'StatefulSet', name: 'solver', namespace: 'shop' };
const solver = object('StatefulSet', 'solver', { namespace: 'shop' });
const pod = object('Pod', 'solver-0', {
  namespace: 'shop',
  ownerReferences: [{ kind: 'StatefulSet', name: 'solver', uid: 'uid-StatefulSet-solver', controller: true }],
  spec: { nodeName: 'n2' },
  status: { phase: 'Running' },
});
const successor = object('Node', 'n2', { labels: { 'karpenter.sh/nodepool': 'default' } });
const gone = object('Node', 'n1');
const deadline = '2026-11-20T08:20:00Z';
const events = [
  event(gone, 'DisruptionTerminating', 'Disrupting Node: Expired', { source: 'karpenter', type: 'Normal' }),
  event(gone, 'TerminationGracePeriodExpiring', `All pods will be deleted by ${deadline}`, { source: 'karpenter' }),
];
const ended = event(
  pod,
  'Disrupted',
  `Deleting the pod to accommodate the terminationTime ${deadline} of the node. This bypasses the PDB of the pod and the do-not-disrupt annotation.`,
  { source: 'karpenter' },
);

test('the pool’s expiry took the pod in spite of its budget', () => {
  const [finding] = findingsOf(rule, { subject, objects: [solver, pod, successor, pool('default'), ...events, ended] });
  expect(finding).toMatchObject({
    owner: 'platform',
    root: { kind: 'NodePool', name: 'default' },
    strength: 'derived',
  });
  expect(finding?.cause.en).toContain('(Expired)');
});

test('silent for a consolidation that evicts within the budget', () => {
  const evicted = event(pod, 'Evicted', 'Evicted pod: Underutilized', { source: 'karpenter', type: 'Normal' });
  expectSilent(rule, { subject, objects: [solver, pod, successor, pool('default'), ...events, evicted] });
});
