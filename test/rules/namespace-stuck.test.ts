import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/namespace-stuck.ts';
import { at } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Namespace', name: 'pr-1', namespace: 'pr-1' };
const namespace = (conditions: any[], deletionTimestamp = at('05:00')) => {
  const made = object('Namespace', 'pr-1', { status: { phase: 'Terminating', conditions } });
  made.metadata.deletionTimestamp = deletionTimestamp;
  return made;
};
const discovery = condition(
  'NamespaceDeletionDiscoveryFailure',
  'True',
  'DiscoveryFailed',
  'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: external.metrics.k8s.io/v1beta1: stale GroupVersion discovery: external.metrics.k8s.io/v1beta1',
);
const orphan = object('APIService', 'v1beta1.external.metrics.k8s.io', {
  spec: { group: 'external.metrics.k8s.io', version: 'v1beta1', service: { namespace: 'keda', name: 'keda-metrics' } },
  status: { conditions: [condition('Available', 'False', 'ServiceNotFound')] },
});

test('an API group that nothing serves, with and without its APIService', () => {
  expect(findingsOf(rule, { subject, objects: [namespace([discovery]), orphan] })[0]).toMatchObject({
    owner: 'platform',
    boundary: 'control-plane',
    strength: 'direct',
  });
  expect(findingsOf(rule, { subject, objects: [namespace([discovery])] })[0]).toMatchObject({ strength: 'derived' });
});

test('finalizers that nobody removes; content that is merely left', () => {
  const finalizers = condition(
    'NamespaceFinalizersRemaining',
    'True',
    'SomeFinalizersRemain',
    'Some content in the namespace has finalizers remaining: service.kubernetes.io/load-balancer-cleanup in 1 resource instances',
  );
  const [finding] = findingsOf(rule, { subject, objects: [namespace([finalizers])] });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(finding?.cause.en).toContain('load-balancer-cleanup');
  const content = condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'Some resources are remaining');
  expect(findingsOf(rule, { subject, objects: [namespace([content])] })[0]).toMatchObject({ owner: 'undetermined' });
});

test('stays silent while deletion is young, for other namespaces, and where nothing remains', () => {
  expectSilent(rule, { subject, objects: [namespace([discovery], at('08:25')), orphan] });
  expectSilent(rule, {
    subject: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
    objects: [namespace([discovery]), orphan],
  });
  expectSilent(rule, { subject, objects: [namespace([])] });
});
