import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/configuration-changed.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { crashing, deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const uses = { volumes: [{ name: 'settings', configMap: { name: 'web-settings' } }] };

const settings = (age: number, manager = 'kubectl-edit', name = 'web-settings'): KubeObject => {
  const map = object('ConfigMap', name, {
    namespace: 'shop',
    creationTimestamp: minutesAgo(9000),
    data: { 'application.yaml': '[212 characters, not kept]' },
  });
  map.metadata.managedFields = [
    { manager, operation: 'Update', time: minutesAgo(age), fieldsV1: { 'f:data': { 'f:application.yaml': {} } } },
  ];
  return map;
};
/** A pod that has crashed since so many minutes. */
const failing = (since = 15): KubeObject => {
  const pod = podOf('web', 'a', { age: 9000, ready: false, spec: uses, status: crashing(1) });
  pod.status.conditions = [condition('Ready', 'False', 'ContainersNotReady', '', minutesAgo(since))];
  for (const status of pod.status.containerStatuses) {
    status.lastState.terminated.finishedAt = minutesAgo(1);
    status.lastState.terminated.startedAt = minutesAgo(2);
  }
  return pod;
};
const objects = (map: KubeObject, pods = [failing()], age = 9000) => [
  ...deployment('web', { age, spec: uses }),
  map,
  ...pods,
];

test('pods fail since their configuration was changed, and say so: the owner of the configuration', () => {
  const pod = failing();
  const [finding] = findingsOf(rule, {
    subject,
    objects: objects(settings(20), [pod]),
    logs: [logOf(pod, `${minutesAgo(2)} FATAL cannot parse /etc/web/application.yaml: line 7`)],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'config', onset: minutesAgo(20) });
  expect(finding!.cause.en).toContain('ConfigMap shop/web-settings');
  expect(finding!.cause.en).toContain('by kubectl-edit');
  expect(finding!.evidence[0]!.text).toBe('keys application.yaml');
});

test('pods that started before the change run on, those after it fail; without words or elders it is a mere coincidence', () => {
  const elder = podOf('web', 'b', { age: 9000, spec: uses });
  expect(findingsOf(rule, { subject, objects: objects(settings(20), [failing(), elder]) })[0]?.strength).toBe(
    'derived',
  );
  expect(findingsOf(rule, { subject, objects: objects(settings(20)) })[0]?.strength).toBe('circumstantial');
});

test('what the platform’s own tool wrote is the platform’s', () => {
  const [finding] = findingsOf(rule, { subject, objects: objects(settings(20, 'platform-config-controller')) });
  expect(finding?.owner).toBe('platform');
});

test('stays silent for a change after the trouble or long before, a map the pods do not use, and a release', () => {
  const silent = (made: KubeObject[]) => expectSilent(rule, { subject, objects: made });
  silent(objects(settings(5)));
  silent(objects(settings(900)));
  silent(objects(settings(50)));
  silent(objects(settings(20, 'kubectl-edit', 'other')));
  silent(objects(settings(20), [failing()], 18));
  const made = settings(20);
  made.metadata.creationTimestamp = minutesAgo(20);
  silent(objects(made));
});
