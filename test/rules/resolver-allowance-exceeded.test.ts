import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/resolver-allowance-exceeded.ts';
import { log, node, pod, series } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const dns = pod('coredns-a', 'n1', { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } });
const web = pod('web-1', 'n2');
const complaint = log('web-1', 'java.net.UnknownHostException: orders-db.example', 'shop');
const counter = (instance: string, values: number[]) =>
  series('node_net_ethtool', { type: 'linklocal_allowance_exceeded', device: 'eth0', instance }, values);

test('the counter or the monitor’s event of the node that DNS runs on', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [node('n1'), dns, web],
    logs: [complaint],
    series: [counter('n1', [0, 20000, 48000])],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'dns', strength: 'direct' });
  expect(finding?.affects).toContainEqual(expect.objectContaining({ name: 'web-1' }));
  const said = event(node('n1'), 'LinkLocalExceeded', 'link local allowance exceeded', {
    source: 'eks-node-monitoring-agent',
  });
  expect(findingsOf(rule, { subject, objects: [node('n1'), dns, web, said], logs: [complaint] })).toHaveLength(1);
});

test('stays silent when the counter stands still or rises on a node without DNS', () => {
  expectSilent(rule, {
    subject,
    objects: [node('n1'), dns, web],
    logs: [complaint],
    series: [counter('n1', [7, 7, 7])],
  });
  expectSilent(rule, {
    subject,
    objects: [node('n1'), node('n2'), dns, web],
    logs: [complaint],
    series: [counter('n2', [0, 9, 90])],
  });
});

test('without counters, one replica that times out beside one that does not is derived', () => {
  const other = pod('coredns-b', 'n2', { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } });
  const timeout = (name: string) => log(name, 'read udp 10.0.1.7:41822->10.0.0.2:53: i/o timeout');
  const objects = [node('n1'), node('n2'), dns, other, web];
  expect(
    findingsOf(rule, {
      subject,
      objects,
      logs: [complaint, timeout('coredns-a'), log('coredns-b', 'CoreDNS-1.11.4')],
    })[0],
  ).toMatchObject({ owner: 'platform', strength: 'derived' });
  expectSilent(rule, { subject, objects, logs: [complaint, timeout('coredns-a'), timeout('coredns-b')] });
});
