import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pods-per-node-exhausted.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const of = (message: string) => {
  const pod = waiting('web-1', { message });
  return { subject: subjectOf(pod), objects: [pod] };
};

test('pod slots lack on most nodes', () => {
  expect(findingsOf(rule, of('0/4 nodes are available: 1 Insufficient cpu, 3 Too many pods.'))[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('silent where another resource lacks more', () => {
  expectSilent(rule, of('0/4 nodes are available: 1 Too many pods, 3 Insufficient cpu.'));
});
