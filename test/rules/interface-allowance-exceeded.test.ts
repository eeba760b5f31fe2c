import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/interface-allowance-exceeded.ts';
import { alert, node, pod, series } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const alerts = [alert('WebTimeouts', {}, 'requests time out')];
const objects = [node('n1'), pod('web-1', 'n1')];
const counter = (type: string, values: number[]) => series('node_net_ethtool', { type, instance: 'n1' }, values);

test('connections, packets or bandwidth above the allowance, or a full table', () => {
  for (const type of ['conntrack_allowance_exceeded', 'pps_allowance_exceeded', 'bw_out_allowance_exceeded'])
    expect(findingsOf(rule, { subject, alerts, objects, series: [counter(type, [0, 900])] })[0]).toMatchObject({
      owner: 'platform',
      boundary: 'network',
    });
  const table = [
    series('node_nf_conntrack_entries', { instance: 'n1' }, [131000]),
    series('node_nf_conntrack_entries_limit', { instance: 'n1' }, [131072]),
  ];
  expect(findingsOf(rule, { subject, alerts, objects, series: table })).toHaveLength(1);
  expect(
    findingsOf(rule, {
      subject,
      alerts,
      objects: [...objects, event(node('n1'), 'ConntrackExceededKernel', 'conntrack table full')],
    }),
  ).toHaveLength(1);
});

test('stays silent when counters stand still or the alert is of another kind', () => {
  expectSilent(rule, { subject, alerts, objects, series: [counter('pps_allowance_exceeded', [9, 9])] });
  expectSilent(rule, {
    subject,
    alerts: [alert('KubeJobFailed')],
    objects,
    series: [counter('pps_allowance_exceeded', [0, 9])],
  });
});
