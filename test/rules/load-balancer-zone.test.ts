import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/load-balancer-zone.ts';
import { alert, at, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const alerts = [alert('ProbeSlow', {}, 'p95 of probe duration above 3s')];
const zone = (metric: string, AvailabilityZone: string, values: number[]) => ({
  namespace: 'AWS/NetworkELB',
  metric,
  dimensions: { LoadBalancer: 'net/x/1', AvailabilityZone },
  stat: 'Sum',
  periodSeconds: 300,
  points: values.map((value, index): [string, number] => [at(`08:0${index}`), value]),
});
const resets = [
  zone('TCP_ELB_Reset_Count', 'us-west-2a', [2, 4]),
  zone('TCP_ELB_Reset_Count', 'us-west-2b', [2, 1410]),
  zone('TCP_ELB_Reset_Count', 'us-west-2c', [2, 5]),
];
const health = {
  call: 'health.describeEvents',
  answer: {
    events: [
      {
        arn: 'a',
        service: 'ELASTICLOADBALANCING',
        eventTypeCode: 'AWS_ELASTICLOADBALANCING_OPERATIONAL_ISSUE',
        eventTypeCategory: 'issue',
        statusCode: 'open',
        startTime: at('07:46'),
      },
    ],
  },
};
const objects = [pod('web-1', 'n1')];

test('one zone’s own resets stand out; the vendor’s event or a slow address make it sure', () => {
  expect(findingsOf(rule, { subject, alerts, objects, cloudWatch: resets })[0]).toMatchObject({
    owner: 'cloud',
    boundary: 'network',
    strength: 'derived',
  });
  expect(findingsOf(rule, { subject, alerts, objects, cloudWatch: resets, cloud: [health] })[0]).toMatchObject({
    strength: 'direct',
  });
  const probes = [
    series('probe_duration_seconds', { ip: '1.1.1.1' }, [0.1, 9.8]),
    series('probe_duration_seconds', { ip: '2.2.2.2' }, [0.1, 0.14]),
  ];
  expect(findingsOf(rule, { subject, alerts, objects, series: probes, cloud: [health] })).toHaveLength(1);
});

test('stays silent when targets are unhealthy there, all zones are alike, pods are down, or nobody complains of it', () => {
  expectSilent(rule, {
    subject,
    alerts,
    objects,
    cloudWatch: [...resets, zone('UnHealthyHostCount', 'us-west-2b', [0, 2])],
  });
  expectSilent(rule, {
    subject,
    alerts,
    objects,
    cloudWatch: resets.map((entry) => ({ ...entry, points: resets[1]!.points })),
  });
  expectSilent(rule, { subject, alerts, objects: [pod('web-1', 'n1', { ready: 'False' })], cloudWatch: resets });
  expectSilent(rule, { subject, alerts: [alert('KubeJobFailed')], objects, cloudWatch: resets });
});
