import { expect, test } from 'vitest';
import rule from '../../src/rules/app/metrics-port-moved.ts';
import { alert } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf, series } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const alerts = [alert('TargetDown')];
const ports = (port: number) => ({ ports: [{ name: 'metrics', containerPort: port }] });
const service = (targetPort: number | string) =>
  object('Service', 'web', {
    namespace: 'shop',
    spec: { selector: { app: 'web' }, ports: [{ name: 'metrics', port: 9100, targetPort }] },
  });
const pod = (ready = true) => podOf('web', 'a', { ready, container: ports(9464) });
const up = (values: number[], job = 'web') => series('up', { namespace: 'shop', job }, values);
const lost = up([1, 1, 1, 0, 0, 0, 0, 0, 0]);

test('a release that serves metrics on another port, or no longer answers the scrape', () => {
  const released = deployment('web', { container: ports(9464), before: { container: ports(9100) } });
  const [finding] = findingsOf(rule, {
    subject,
    alerts,
    objects: [...released, pod(), service(9100)],
    series: [lost],
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
  expect(finding?.cause.en).toContain('9100');
  expect(
    findingsOf(rule, { subject, alerts, objects: [...released, pod(), service('metrics')], series: [lost] })[0],
  ).toMatchObject({ owner: 'app', strength: 'derived' });
});

test('stays silent where pods are not ready, no release is near, other jobs are down too, or the alert is another', () => {
  const released = deployment('web', { container: ports(9464), before: { container: ports(9100) } });
  const base = { subject, alerts, series: [lost] };
  expectSilent(rule, { ...base, objects: [...released, pod(false), service(9100)] });
  expectSilent(rule, { ...base, objects: [...deployment('web', { age: 60 * 24 * 9 }), pod(), service('metrics')] });
  expectSilent(rule, {
    ...base,
    objects: [...released, pod(), service(9100)],
    series: [lost, up([1, 0, 0], 'api'), up([1, 0, 0], 'db')],
  });
  expectSilent(rule, { ...base, alerts: [alert('HighErrorRate')], objects: [...released, pod(), service(9100)] });
});
