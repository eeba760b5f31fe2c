import { expect, test } from 'vitest';
import rule from '../../src/rules/app/symptom-unexplained.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const pod = podOf('web', 'a');

test('names nobody, cites what there is, and asks for the reads that would split it', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...deployment('web', { before: {} }), pod],
    logs: [logOf(pod, '2026-11-20T08:20:00Z ERROR upstream timeout')],
  });
  expect(finding).toMatchObject({ owner: 'undetermined', strength: 'circumstantial', explains: [] });
  expect(finding?.evidence[0]?.text).toContain('upstream timeout');
  expect(findingsOf(rule, { subject, objects: [...deployment('web'), pod] })[0]?.missing[0]?.fix).toContain('pods/log');
});

test('has nothing to say about a whole cluster', () => {
  expectSilent(rule, { subject: { kind: 'Cluster' }, objects: [...deployment('web'), pod] });
});
