import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/branch-interface-lookups.ts';
import { node, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'secured', namespace: 'shop' };
const secured = pod('secured', 'n1', { annotations: { 'vpc.amazonaws.com/pod-eni': '[{"eniId":"eni-1"}]' } });
const plain = pod('plain', 'n1');
const latency = (name: string, value: number) =>
  series('app_dns_lookup_seconds:p99', { pod: name, namespace: 'shop' }, [0.004, 0.004, 0.004, value, value]);

test('slow with a branch interface, fast without, on the same node', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [node('n1'), secured, plain],
    series: [latency('secured', 2.7), latency('plain', 0.005)],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'dns' });
  expect(finding?.contributing[0]?.owner).toBe('cloud');
});

test('stays silent when all are slow, or the fast ones sit elsewhere', () => {
  expectSilent(rule, {
    subject,
    objects: [node('n1'), secured, plain],
    series: [latency('secured', 2.7), latency('plain', 2.6)],
  });
  expectSilent(rule, {
    subject,
    objects: [node('n1'), secured, pod('plain', 'n2')],
    series: [latency('secured', 2.7), latency('plain', 0.005)],
  });
});
