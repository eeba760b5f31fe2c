import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/platform/platform-change-precedes-trouble.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const lookup = 'ERROR dial tcp: lookup orders.shop.svc.cluster.local on 10.0.0.10:53: no such host';

const victim = (name: string, namespace: string, since: number): KubeObject => {
  const pod = podOf(name, 'a', { namespace, age: 9000, ready: false });
  pod.status.conditions = [condition('Ready', 'False', 'ContainersNotReady', '', minutesAgo(since))];
  return pod;
};
const coredns = (age: number, name = 'coredns') =>
  deployment(name, { namespace: 'kube-system', age, image: `${name}:1.13`, before: { image: `${name}:1.12` } });

const situation = (
  options: { changed?: KubeObject[]; since?: [number, number, number]; homes?: string[]; line?: string } = {},
) => {
  const [a, b, c] = options.since ?? [18, 17, 12];
  const homes = options.homes ?? ['shop', 'billing', 'billing'];
  const pods = [victim('web', homes[0]!, a), victim('api', homes[1]!, b), victim('jobs', homes[2]!, c)];
  return {
    subject,
    objects: [
      ...['web', 'api', 'jobs'].flatMap((name, index) => deployment(name, { namespace: homes[index], age: 9000 })),
      ...pods,
      ...(options.changed ?? coredns(20)),
    ],
    logs: pods.map((pod) => logOf(pod, options.line ?? lookup)),
  };
};

test('workloads of several namespaces complain of what a part of the platform serves, minutes after it was changed', () => {
  const [finding] = findingsOf(rule, situation());
  expect(finding).toMatchObject({
    owner: 'platform',
    strength: 'derived',
    mechanism: 'dns',
    root: { name: 'coredns' },
  });
  expect(finding!.cause.en).toContain('image coredns:1.12 → coredns:1.13');
  expect(finding!.nextSteps[0]!.en).toBe('kubectl rollout undo deployment/coredns -n kube-system');
});

test('its configuration counts as well, and events speak as logs do', () => {
  const map = object('ConfigMap', 'coredns', { namespace: 'kube-system' });
  map.metadata.managedFields = [{ manager: 'kubectl-edit', operation: 'Update', time: minutesAgo(20) }];
  const [finding] = findingsOf(rule, situation({ changed: [map] }));
  expect(finding!.root).toMatchObject({ kind: 'ConfigMap', name: 'coredns' });
  const csi = situation({ changed: coredns(20, 'ebs-csi-controller'), line: 'waiting' });
  const mounts = csi.objects
    .filter(({ kind, status }) => kind === 'Pod' && status)
    .map((pod) =>
      event(pod, 'FailedMount', 'MountVolume.SetUp failed for volume "data"', {
        at: minutesAgo(10),
        firstAt: minutesAgo(10),
      }),
    );
  expect(findingsOf(rule, { ...csi, objects: [...csi.objects, ...mounts] })[0]).toMatchObject({ mechanism: 'volume' });
});

test('stays silent for trouble before the change, in one namespace, of another kind, and where two parts were changed', () => {
  expectSilent(rule, situation({ since: [40, 17, 12] }));
  expectSilent(rule, situation({ homes: ['shop', 'shop', 'shop'] }));
  expectSilent(rule, situation({ line: 'ERROR password authentication failed' }));
  expectSilent(rule, situation({ changed: coredns(20, 'cert-manager') }));
  expectSilent(rule, situation({ changed: coredns(900) }));
  const both = situation({
    changed: [...coredns(20), ...coredns(21, 'cilium-operator')],
    line: `${lookup} i/o timeout`,
  });
  expectSilent(rule, both);
});
