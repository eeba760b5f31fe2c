import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/vendor-resolver-fails.ts';
import { alert, log, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const alerts = [alert('CoreDNSForwardErrors')];
const dns = (name: string, at: string) =>
  pod(name, at, { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } });
const timeout = (name: string) =>
  log(name, '[ERROR] plugin/errors: 2 x.example.com. A: read udp 10.0.1.7:41822->10.0.0.2:53: i/o timeout');
const objects = [dns('coredns-a', 'n1'), dns('coredns-b', 'n2')];
const still = series('node_net_ethtool', { type: 'linklocal_allowance_exceeded', instance: 'n1' }, [3, 3, 3]);

test('all replicas, and no allowance exceeded: the vendor’s; not measured: open', () => {
  expect(
    findingsOf(rule, {
      subject,
      alerts,
      objects,
      logs: [timeout('coredns-a'), timeout('coredns-b')],
      series: [still],
    })[0],
  ).toMatchObject({ owner: 'cloud', strength: 'derived' });
  expect(
    findingsOf(rule, { subject, alerts, objects, logs: [timeout('coredns-a'), timeout('coredns-b')] })[0],
  ).toMatchObject({ owner: 'undetermined' });
});

test('stays silent on one replica, an exceeded allowance, or an upstream of the customer', () => {
  expectSilent(rule, { subject, alerts, objects, logs: [timeout('coredns-a')] });
  const rising = { ...still, points: still.points.map(([at], index): [number, number] => [at, index * 100]) };
  expectSilent(rule, {
    subject,
    alerts,
    objects,
    logs: [timeout('coredns-a'), timeout('coredns-b')],
    series: [rising],
  });
  const own = (name: string) => log(name, 'read udp 10.0.1.7:41822->10.9.9.53:53: i/o timeout');
  expectSilent(rule, { subject, alerts, objects, logs: [own('coredns-a'), own('coredns-b')] });
});
