import { expect, test } from 'vitest';
import rule from '../../src/rules/app/capacity-disagreement.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const agent = podOf('agent', 'a');
const portal = podOf('portal', 'b');
const scaler = podOf('scaler', 'c');
const env = { env: [{ name: 'MAX_JOBS', value: '7' }] };
const objects = [
  ...deployment('agent', { container: env }),
  ...deployment('portal'),
  ...deployment('scaler'),
  agent,
  portal,
  scaler,
];
const subject = { kind: 'Service', name: 'portal', namespace: 'shop' };
const refuses = logOf(agent, '2026-11-20T08:25:00Z WARN create rejected: max jobs reached active=7 max=7');
const places = (room: number) => logOf(portal, `2026-11-20T08:25:01Z INFO place job node=n1 load=7/${room}`);
const counts = (room: number) => logOf(scaler, `2026-11-20T08:25:02Z INFO nodes=6 jobs=21 per_node=${room}`);

test('parts that count with different room for the same thing are the product’s own fault', () => {
  const [finding] = findingsOf(rule, { subject, objects, logs: [refuses, places(30), counts(35)] });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct', root: { name: 'agent' } });
  for (const room of ['7', '30', '35']) expect(finding?.cause.en).toContain(`counts with ${room}`);
  expect(finding?.evidence.some((entry) => entry.text === 'MAX_JOBS=7')).toBe(true);
});

test('stays silent where all parts agree, and where nobody is turned away', () => {
  expectSilent(rule, { subject, objects, logs: [refuses, places(7), counts(7)] });
  expectSilent(rule, { subject, objects, logs: [logOf(agent, 'INFO heartbeat active=2 max=7'), places(30)] });
});
