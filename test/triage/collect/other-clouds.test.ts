import { expect, test } from 'vitest';
import { gapsOf } from '../../../src/triage/collect/gaps.ts';
import { unreadCloud } from '../../../src/triage/collect/other-clouds.ts';

test.each([
  ['gke', 'Google Cloud', 'status.cloud.google.com'],
  ['aks', 'Azure', 'Service Health'],
  ['ack', 'Alibaba Cloud', 'status.alibabacloud.com'],
] as const)('the cloud API of %s is told as unknown, and where to look instead', (provider, vendor, look) => {
  expect(gapsOf({ reads: unreadCloud(provider) })).toEqual([
    { missing: `unknown: there is no reader yet for the API of ${vendor}`, fix: expect.stringContaining(look) },
  ]);
});

test('AWS has its reader, and machines of one’s own have no such API', () => {
  for (const provider of ['eks', 'eks-auto', 'self'] as const) expect(unreadCloud(provider)).toEqual([]);
});
