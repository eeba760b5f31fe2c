import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pool-disruption-loosened.ts';
import { at, log, node, owned, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'StatefulSet', name: 'gate', namespace: 'shop' };
const gate = object('StatefulSet', 'gate', { namespace: 'shop', spec: { replicas: 2 } });
const host = node('n1', 'True', { labels: { 'karpenter.sh/nodepool': 'default' } });
const replica = (name: string, made: string) =>
  pod(name, 'n1', { creationTimestamp: made, ...owned('StatefulSet', 'gate') });
const pods = [replica('gate-0', at('08:06')), replica('gate-1', '2026-11-10T00:00:00Z')];
const pool = (time: string, field = 'f:disruption') => {
  const made = object('NodePool', 'default', {
    spec: { disruption: { budgets: [{ nodes: '100%' }], consolidateAfter: '30s' } },
  });
  made.metadata.managedFields = [
    { manager: 'helm', operation: 'Update', time, fieldsV1: { 'f:spec': { [field]: {} } } },
  ];
  return made;
};
const karpenter = pod('karpenter-1', 'n1', { namespace: 'kube-system' });
const disrupted = (times: string[], reason = 'underutilized') =>
  log(
    'karpenter-1',
    times.map((time) => JSON.stringify({ time: at(time), message: 'disrupting node(s)', reason })).join('\n'),
  );
const situation = (written: string, logs: any[], field?: string) => ({
  subject,
  objects: [gate, host, ...pods, karpenter, pool(written, field)],
  logs,
});

test('budgets that went, and node after node since; by the log or by events', () => {
  const platform = { owner: 'platform', boundary: 'provisioning', root: { kind: 'NodePool' } };
  const logs = [disrupted(['06:10', '07:10', '08:05'])];
  expect(findingsOf(rule, situation(at('06:00'), logs))[0]).toMatchObject(platform);
  const told = ['06:10', '07:10', '08:05'].map((time, index) =>
    event(object('NodeClaim', `default-${index}`), 'DisruptionTerminating', 'Disrupting NodeClaim: Empty', {
      at: at(time),
    }),
  );
  const base = situation(at('06:00'), []);
  expect(findingsOf(rule, { ...base, objects: [...base.objects, ...told] })[0]).toMatchObject(platform);
});

test('silent for an old or other change, for reclaims, for as many disruptions before, and for pods that never moved', () => {
  const logs = [disrupted(['06:10', '07:10', '08:05'])];
  expectSilent(rule, situation('2026-11-01T00:00:00Z', logs));
  expectSilent(rule, situation(at('06:00'), logs, 'f:limits'));
  expectSilent(rule, situation(at('06:00'), [disrupted(['06:10', '07:10', '08:05'], 'interrupted')]));
  expectSilent(rule, situation(at('06:00'), [disrupted(['03:00', '04:00', '05:00', '06:10', '07:10', '08:05'])]));
  expectSilent(rule, situation(at('06:00'), [disrupted(['06:10', '06:40', '07:10'])]));
});
