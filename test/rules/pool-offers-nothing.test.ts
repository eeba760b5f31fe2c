import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pool-offers-nothing.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { launchFailed, nodeClass, pool, refused, subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const offering = refused(
  pod,
  'incompatible with nodepool "default", daemonset overhead={}, no instance type has the required offering, requirements=x, resources={"cpu":"1"}',
);
const subnets = (...zones: string[]) =>
  nodeClass('default', { status: { subnets: zones.map((zone, index) => ({ id: `subnet-${index}`, zone })) } });

test('zones of the pool and subnets of its class do not meet', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [pod, offering, pool('default', { zones: ['us-west-2d'] }), subnets('us-west-2a', 'us-west-2b')],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(finding?.cause.en).toContain('us-west-2d');
});

test('the pod asks for a zone without a subnet: its template’s', () => {
  const pinned = waiting('web-2', { spec: { nodeSelector: { 'topology.kubernetes.io/zone': 'us-west-2d' } } });
  const said = refused(
    pinned,
    'incompatible with nodepool "default", no instance type has the required offering, requirements=x, resources={}',
  );
  expect(
    findingsOf(rule, {
      subject: subjectOf(pinned),
      objects: [pinned, said, pool('default'), subnets('us-west-2a')],
    })[0],
  ).toMatchObject({ owner: 'app' });
});

test('minValues, and the pool’s own event without a refusal of the pod', () => {
  const minimum = refused(
    pod,
    'incompatible with nodepool "default", minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type])',
  );
  expect(findingsOf(rule, { subject, objects: [pod, minimum, pool('default')] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  const own = pool('default');
  const filtered = event(
    own,
    'NoCompatibleInstanceTypes',
    'NodePool requirements filtered out all compatible available instance types',
    { source: 'karpenter' },
  );
  expect(findingsOf(rule, { subject, objects: [pod, own, filtered] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('silent where a launch was refused, the pool is full, or the pod is too large', () => {
  expectSilent(rule, {
    subject,
    objects: [pod, offering, pool('default'), launchFailed('default-abcde', 'InsufficientInstanceCapacity: none')],
  });
  expectSilent(rule, {
    subject,
    objects: [pod, offering, pool('default', { limits: { cpu: '8' }, used: { cpu: '8' } })],
  });
  const big = waiting('web-3', { requests: { cpu: '64' } });
  const said = refused(
    big,
    'incompatible with nodepool "default", no instance type met the scheduling requirements or had enough resources or had a required offering, resources={}',
  );
  expectSilent(rule, { subject: subjectOf(big), objects: [big, said, pool('default', { types: ['m6a.large'] })] });
});
