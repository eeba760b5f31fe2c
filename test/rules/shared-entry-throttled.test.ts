import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/shared-entry-throttled.ts';
import { alert, owned, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const alerts = [alert('ProbeSlow', {}, 'duration of shop.example.com above 2 s')];
const web = pod('web-1', 'n1');
const entry = (name: string, namespace: string, kind = 'DaemonSet') => [
  object(kind, name, { namespace }),
  pod(`${name}-1`, 'n1', {
    namespace,
    ...owned(kind, name),
    spec: { containers: [{ name: 'main', resources: { limits: { cpu: '300m' } } }] },
  }),
];
const ratio = (name: string, namespace: string, values: number[]) =>
  series('container_cpu_cfs_throttled_ratio', { namespace, pod: `${name}-1`, container: 'main' }, values);
const rising = [0, 0, 0, 0.2, 0.5, 0.6, 0.7, 0.7];
const own = (values: number[]) => series('http_server_request_duration_p95_seconds', { namespace: 'shop' }, values);
const flat = own([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]);

test('an ingress controller, a gateway and the cluster’s DNS', () => {
  for (const [name, namespace] of [
    ['ingress-nginx-controller', 'ingress-nginx'],
    ['istio-ingressgateway', 'istio-system'],
    ['coredns', 'kube-system'],
  ] as const)
    expect(
      findingsOf(rule, {
        subject,
        alerts,
        objects: [web, ...entry(name, namespace)],
        series: [ratio(name, namespace, rising), flat],
      })[0],
    ).toMatchObject({ owner: 'platform', boundary: 'config', mechanism: 'throttling' });
  const labels = { namespace: 'traefik', pod: 'traefik-1', container: 'main' };
  const counters = [
    series('container_cpu_cfs_throttled_periods_total', labels, [0, 0, 0, 300, 600, 900, 1200, 1500]),
    series('container_cpu_cfs_periods_total', labels, [0, 600, 1200, 1800, 2400, 3000, 3600, 4200]),
  ];
  expect(
    findingsOf(rule, { subject, alerts, objects: [web, ...entry('traefik', 'traefik')], series: counters })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('silent for a team’s own gateway, throttling as ever or hardly, and a service that is slow itself', () => {
  const name = 'ingress-nginx-controller';
  const home = 'ingress-nginx';
  const with_ = (values: number[], rest: any[] = [flat], objects = entry(name, home)) => ({
    subject,
    alerts,
    objects: [web, ...objects],
    series: [ratio(name, home, values), ...rest],
  });
  expectSilent(rule, with_([0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7]));
  expectSilent(rule, with_([0, 0, 0, 0, 0.1, 0.1, 0.1, 0.1]));
  expectSilent(rule, with_(rising, [own([0.1, 0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9])]));
  expectSilent(rule, {
    subject,
    alerts,
    objects: [web, ...entry('api-gateway', 'payments')],
    series: [ratio('api-gateway', 'payments', rising)],
  });
  expectSilent(rule, { ...with_(rising), alerts: [alert('QueueLong')] });
});
