import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/kube-proxy-replaced.ts';
import { alert, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const alerts = [alert('KubeProxyDown')];
const agent = (name: string, ready: 'True' | 'False' = 'True') => pod(name, 'n1', { namespace: 'kube-system', ready });

test('Dataplane V2, Cilium and Auto Mode have no kube-proxy to scrape', () => {
  for (const name of ['anetd-x1', 'cilium-x1'])
    expect(findingsOf(rule, { provider: 'gke', subject, alerts, objects: [agent(name)] })[0]).toMatchObject({
      state: 'expected',
    });
  expect(findingsOf(rule, { provider: 'eks-auto', subject, alerts })[0]).toMatchObject({ state: 'expected' });
});

test('stays silent where kube-proxy exists, the replacement is not ready or unknown, or other alerts fire', () => {
  expectSilent(rule, { subject, alerts, objects: [agent('anetd-x1'), agent('kube-proxy-x1')] });
  expectSilent(rule, { subject, alerts, objects: [agent('anetd-x1', 'False')] });
  expectSilent(rule, { subject, alerts, objects: [agent('calico-node-x1'), agent('cilium-operator-x1')] });
  expectSilent(rule, { subject, alerts: [...alerts, alert('KubeAPIDown')], objects: [agent('anetd-x1')] });
});
