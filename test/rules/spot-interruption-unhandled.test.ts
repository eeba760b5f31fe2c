import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/spot-interruption-unhandled.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { node, running, subjectOf } from './nodes.ts';
import { logOf, minutesAgo } from './workloads.ts';

const lost = node('n1', {
  ready: 'Unknown',
  labels: { 'karpenter.sh/capacity-type': 'spot' },
  providerID: 'aws:///us-west-2a/i-0123456789abcdef0',
});
const pod = running('web-1', 'n1', { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } });
const subject = subjectOf(pod);
const karpenter = (queue: string | undefined) =>
  object('Pod', 'karpenter-1', {
    namespace: 'kube-system',
    spec: {
      containers: [
        {
          name: 'controller',
          image: 'public.ecr.aws/karpenter/controller:1.6.3',
          env: [{ name: 'INTERRUPTION_QUEUE', value: queue }],
        },
      ],
    },
    status: { phase: 'Running' },
  });
const reclaimed = {
  'ec2.describeInstances': {
    Reservations: [
      {
        Instances: [
          {
            InstanceId: 'i-0123456789abcdef0',
            StateReason: { Code: 'Server.SpotInstanceTermination', Message: 'Spot instance termination' },
          },
        ],
      },
    ],
  },
};
const evicted = {
  'cloudtrail.lookupEvents': {
    Events: [
      {
        EventName: 'BidEvictedEvent',
        EventTime: minutesAgo(4),
        CloudTrailEvent: JSON.stringify({ serviceEventDetails: { instanceIdSet: ['i-0123456789abcdef0'] } }),
      },
    ],
  },
};
const rules = (...patterns: string[]) => ({
  'events.listRules': { Rules: patterns.map((pattern) => ({ Name: 'r', State: 'ENABLED', EventPattern: pattern })) },
});
const cloud = (answers: Record<string, unknown>) =>
  Object.entries(answers).map(([call, answer]) => ({ call, answer })) as any;
const warning = '{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}';

test('no queue: either proof of the reclaim will do', () => {
  for (const proof of [reclaimed, evicted])
    for (const queue of ['', undefined])
      expect(
        findingsOf(rule, { subject, cloud: cloud(proof), objects: [lost, pod, karpenter(queue)] })[0],
      ).toMatchObject({ owner: 'platform', strength: 'direct' });
});

test('a queue that no rule feeds, and one that may not be read', () => {
  const unfed = { ...reclaimed, ...rules('{"source":["aws.health"]}') };
  expect(
    findingsOf(rule, { subject, cloud: cloud(unfed), objects: [lost, pod, karpenter('q')] })[0]?.cause.en,
  ).toContain('no enabled EventBridge rule');
  const controller = karpenter('q');
  const logs = [logOf(controller, 'failed to create valid sqs provider, AWS.SimpleQueueService.NonExistentQueue')];
  expect(
    findingsOf(rule, {
      subject,
      logs,
      cloud: cloud({ ...reclaimed, ...rules(warning) }),
      objects: [lost, pod, controller],
    })[0]?.cause.en,
  ).toContain('cannot read');
});

test('an alert in the minutes after the loss, about a neighbour in the namespace', () => {
  const other = object('Deployment', 'api', { namespace: 'shop', spec: { replicas: 1 } });
  const alerts = [
    { status: 'firing', labels: {}, annotations: {}, startsAt: minutesAgo(2), endsAt: '', fingerprint: 'a' },
  ] as any;
  const [finding] = findingsOf(rule, {
    subject: { kind: 'Deployment', name: 'api', namespace: 'shop' },
    alerts,
    cloud: cloud(evicted),
    objects: [lost, pod, other, karpenter('')],
  });
  expect(finding).toMatchObject({ strength: 'derived' });
  expect(finding?.affects).toContainEqual(expect.objectContaining({ kind: 'Deployment', name: 'api' }));
});

test('silent without a reclaim, where it was announced, and where the path is complete', () => {
  expectSilent(rule, { subject, objects: [lost, pod, karpenter('')] });
  const announced = event(lost, 'SpotInterrupted', 'Spot interruption warning was triggered', { source: 'karpenter' });
  expectSilent(rule, { subject, cloud: cloud(reclaimed), objects: [lost, pod, karpenter(''), announced] });
  expectSilent(rule, {
    subject,
    cloud: cloud({ ...reclaimed, ...rules(warning) }),
    objects: [lost, pod, karpenter('q')],
  });
});
