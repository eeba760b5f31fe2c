import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-subnet-full.ts';
import { findingsOf } from './harness.ts';
import { expectOnly, refusedBy } from './launch-situations.ts';
import { nodeClass } from './nodes.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['addresses'], 'platform');
});

test('a subnet id that resolves to nothing is named', () => {
  const mistyped = nodeClass('default', {
    spec: { subnetSelectorTerms: [{ id: 'ssubnet-1' }, { id: 'subnet-2' }] },
    status: { subnets: [{ id: 'subnet-2', zone: 'us-west-2a' }] },
  });
  const [finding] = findingsOf(
    rule,
    refusedBy('InsufficientFreeAddressesInSubnet', "no free addresses in subnet 'subnet-2'", [mistyped]),
  );
  expect(finding?.cause.en).toContain('ssubnet-1');
});
