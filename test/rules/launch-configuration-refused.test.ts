import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-configuration-refused.ts';
import { findingsOf } from './harness.ts';
import { expectOnly, refusedBy } from './launch-situations.ts';
import { nodeClass } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['configuration', 'userData'], 'platform');
});

test('names the writer of the class', () => {
  const written = nodeClass('default', { spec: { amiSelectorTerms: [{ id: 'ami-gone' }] } });
  written.metadata.managedFields = [{ manager: 'terraform', operation: 'Update', time: minutesAgo(12) }];
  const [finding] = findingsOf(rule, refusedBy('InvalidAMIID', 'The image id does not exist', [written]));
  expect(finding?.cause.en).toContain('terraform');
});
