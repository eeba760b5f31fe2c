import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/fargate-pod-refused.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const said = (message: string, namespace = 'shop', source = 'fargate-scheduler') => {
  const owner = object('Deployment', 'web', { namespace });
  const pod = waiting('web-1', { namespace, owner });
  return { subject: subjectOf(pod), objects: [owner, pod, event(pod, 'FailedScheduling', message, { source })] };
};

test('who acts is in the text', () => {
  for (const [message, owner, boundary] of [
    ['Your AWS account is currently blocked and thus cannot launch any Fargate pods', 'cloud', 'provisioning'],
    [
      'Fargate capacity is unavailable at this time. Please try again later or in a different availability zone',
      'cloud',
      'capacity',
    ],
    ['You have reached the limit on the number of Fargate vCPUs you can run concurrently', 'platform', 'quota'],
    [
      'Misconfigured Fargate Profile: fargate profile batch blocked for new launches due to: Pod execution role is not found in auth config',
      'platform',
      'provisioning',
    ],
    ['Pod not supported on Fargate: invalid SecurityContext fields: Privileged', 'app', 'config'],
    ['Pod provisioning timed out (will retry) for pod: shop/web-1', 'undetermined', 'provisioning'],
  ] as const)
    expect(findingsOf(rule, said(message))[0]).toMatchObject({ owner, boundary });
});

test('the same fault of an add-on is the platform’s', () => {
  expect(
    findingsOf(rule, said('Pod not supported on Fargate: fields not supported: HostNetwork', 'kube-system'))[0],
  ).toMatchObject({ owner: 'platform' });
});

test('silent for the other scheduler', () => {
  expectSilent(rule, said('0/3 nodes are available: 3 Insufficient cpu.', 'shop', 'default-scheduler'));
});
