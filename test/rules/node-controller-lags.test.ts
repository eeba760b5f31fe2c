import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/node-controller-lags.ts';
import { at, lease, node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const marked = (name: string, since = at('08:20')) => node(name, 'Unknown', { since });
const fresh = '2026-11-20T08:29:55Z';

test('several nodes with fresh leases are marked Unknown: whoever runs the node controller', () => {
  const objects = [marked('n1'), marked('n2'), lease('n1', fresh), lease('n2', fresh)];
  expect(findingsOf(rule, { subject, objects })[0]).toMatchObject({ owner: 'cloud', boundary: 'control-plane' });
  expect(findingsOf(rule, { provider: 'self', subject, objects })[0]).toMatchObject({ owner: 'platform' });
});

test('stays silent for stale leases, a single node, and nodes that have just come back', () => {
  expectSilent(rule, {
    subject,
    objects: [marked('n1'), marked('n2'), lease('n1', at('08:20')), lease('n2', at('08:20'))],
  });
  expectSilent(rule, { subject, objects: [marked('n1'), lease('n1', fresh)] });
  expectSilent(rule, {
    subject,
    objects: [marked('n1', at('08:29')), marked('n2', at('08:29')), lease('n1', fresh), lease('n2', fresh)],
  });
});
