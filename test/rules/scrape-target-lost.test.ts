import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/scrape-target-lost.ts';
import { alert, at, lease, log, node, probe } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const objects = [node('n1'), lease('n1', at('08:30'))];

test('a target that lives is a matter of monitoring', () => {
  for (const name of ['KubeAPIDown', 'KubeletDown', 'KubeProxyDown'])
    expect(findingsOf(rule, { subject, alerts: [alert(name)], objects, probes: [probe(200)] })[0]).toMatchObject({
      owner: 'platform',
      boundary: 'config',
    });
});

test('stays silent when the target really is in trouble', () => {
  expectSilent(rule, { subject, alerts: [alert('KubeAPIDown')], objects, probes: [probe(503, 'connection timeout')] });
  expectSilent(rule, {
    subject,
    alerts: [alert('KubeletDown')],
    objects: [node('n1', 'Unknown'), lease('n1', at('08:00'))],
    probes: [probe(200)],
  });
});

test('a gap that has ended is over, with why it was there', () => {
  const resolved = { ...alert('KubeAPIInstanceUnreachable'), status: 'resolved' as const, endsAt: at('08:25') };
  const logs = [log('notifier', 'UpgradeEvent resourceType=MASTER targetVersion=1.33.3')];
  const found = findingsOf(rule, { subject, alerts: [resolved], objects, probes: [probe(200)], logs })[0];
  expect(found).toMatchObject({ state: 'over', owner: 'undetermined' });
  expect(JSON.stringify(found!.evidence)).toContain('UpgradeEvent');
});
