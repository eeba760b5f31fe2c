import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-recovered.ts';
import { alert, at, lease, node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const alerts = [alert('KubeNodeNotReady', { node: 'n1' })];

test('Ready for minutes with a fresh lease: over', () => {
  expect(
    findingsOf(rule, {
      subject,
      alerts,
      objects: [node('n1', 'True', { since: at('08:20') }), lease('n1', at('08:30'))],
    })[0],
  ).toMatchObject({ state: 'over' });
});

test('stays silent while it flaps, is tainted, has a stale lease, or the alert is about flapping', () => {
  expectSilent(rule, { subject, alerts, objects: [node('n1', 'True', { since: at('08:29') })] });
  expectSilent(rule, {
    subject,
    alerts,
    objects: [
      node('n1', 'True', { since: at('08:20'), spec: { taints: [{ key: 'node.kubernetes.io/unreachable' }] } }),
    ],
  });
  expectSilent(rule, {
    subject,
    alerts,
    objects: [node('n1', 'True', { since: at('08:20') }), lease('n1', at('08:10'))],
  });
  expectSilent(rule, {
    subject,
    alerts: [alert('KubeNodeReadinessFlapping')],
    objects: [node('n1', 'True', { since: at('08:20') })],
  });
});
