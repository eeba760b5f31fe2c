import { expect, test } from 'vitest';
import rule from '../../src/rules/app/two-budgets-one-pod.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const subject = { kind: 'Node', name: 'n1' };
const node = object('Node', 'n1', {
  spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule', timeAdded: minutesAgo(300) }] },
});
const pod = object('Pod', 'edi-x', {
  namespace: 'edi',
  labels: { app: 'edi' },
  spec: { nodeName: 'n1' },
  status: { phase: 'Running' },
});
const budget = (name: string, app: string, minutes: number) =>
  object('PodDisruptionBudget', name, {
    namespace: 'edi',
    creationTimestamp: minutesAgo(minutes),
    spec: { maxUnavailable: 1, selector: { matchLabels: { app } } },
    status: { disruptionsAllowed: 1 },
  });

test('two budgets that both allow a disruption still block it; the newer one is the change', () => {
  const objects = [node, pod, budget('edi', 'edi', 90_000), budget('edi-pdb', 'edi', 3000)];
  expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({
    owner: 'app',
    boundary: 'config',
    root: { kind: 'PodDisruptionBudget', name: 'edi-pdb' },
  });
});

test('silent for budgets of different pods, and without a drain', () => {
  expectSilent(rule, { subject, objects: [node, pod, budget('edi', 'edi', 900), budget('other', 'other', 90)] });
  expectSilent(rule, {
    subject,
    objects: [object('Node', 'n1'), pod, budget('a', 'edi', 900), budget('b', 'edi', 90)],
  });
});
