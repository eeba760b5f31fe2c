import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pool-near-limit.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { pool } from './nodes.ts';

const subject = { kind: 'NodePool', name: 'default' };

test('says only that it is full: weak, so that whoever knows what fills it wins', () => {
  expect(findingsOf(rule, { subject, objects: [pool('default', { used: { cpu: '98' } })] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'circumstantial',
  });
});

test('silent below the limit and for other subjects', () => {
  expectSilent(rule, { subject, objects: [pool('default')] });
  expectSilent(rule, {
    subject: { kind: 'NodePool', name: 'other' },
    objects: [pool('default', { used: { cpu: '98' } })],
  });
});
