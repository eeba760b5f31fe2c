import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/control-plane-upgrade.ts';
import { alert, at, probe, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const alerts = [alert('KubeAPIErrorBudgetBurn')];
const update = {
  call: 'eks.describeUpdate',
  answer: {
    update: {
      id: 'u1',
      status: 'InProgress',
      type: 'VersionUpdate',
      params: [{ type: 'Version', value: '1.34' }],
      createdAt: at('08:13'),
    },
  },
};
const burst = series('apiserver_request_total', { code: '503' }, [
  ...Array(20).fill(0),
  120,
  240,
  ...Array(8).fill(240),
]);

test('a short burst within a managed update is expected until the update should have ended', () => {
  const [finding] = findingsOf(rule, { subject, alerts, cloud: [update], series: [burst], probes: [probe(200)] });
  expect(finding).toMatchObject({ state: 'expected', deadline: at('09:13') });
  expect(finding?.cause.en).toContain('1.34');
});

test('a burst that ended by itself is over', () => {
  expect(findingsOf(rule, { subject, alerts, series: [burst], probes: [probe(200)] })[0]).toMatchObject({
    state: 'over',
  });
});

test('stays silent while errors go on, readiness fails, or the alert is about something else', () => {
  const going = series('apiserver_request_total', { code: '503' }, [0, 100, 200, 300, 400]);
  expectSilent(rule, { subject, alerts, cloud: [update], series: [going], probes: [probe(200)] });
  expectSilent(rule, {
    subject,
    alerts,
    cloud: [update],
    series: [burst],
    probes: [probe(500, '[-]etcd failed: reason withheld')],
  });
  expectSilent(rule, {
    subject,
    alerts: [alert('KubePodNotReady')],
    cloud: [update],
    series: [burst],
    probes: [probe(200)],
  });
});
