import { expect, test } from 'vitest';
import { launchFailures } from '../../src/facts/capacity/launches.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import rule from '../../src/rules/cloud/container-instance-taken-back.ts';
import { owned, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, factsOf, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' } as const;
const deployment = object('Deployment', 'web', { namespace: 'shop' });
const instance = (entry?: object) =>
  pod('web-1', 'virtual-kubelet-a', {
    ...owned('Deployment', 'web'),
    ready: 'False',
    annotations: { 'k8s.aliyun.com/eci-spot-strategy': 'SpotAsPriceGo' },
    status: { conditions: [condition('Ready', 'False'), ...(entry ? [entry] : [])] },
  });
const of = (...objects: any[]) => findingsOf(rule, { provider: 'ack', subject, objects: [deployment, ...objects] })[0];

test('the host failed: the vendor, by either condition or by the event', () => {
  for (const entry of [
    condition('ContainerInstanceCreated', 'False', 'SystemFailureReboot', ''),
    condition('SandboxReady', 'False', 'SystemFailure.Reboot', ''),
    condition('SandboxReady', 'False', 'InstanceFailure.Reboot', ''),
    condition('SandboxReady', 'False', 'SystemFailure.Redeploy', ''),
  ])
    expect(of(instance(entry))).toMatchObject({ owner: 'cloud', state: 'fault', strength: 'direct' });
  const said = event(instance(), 'SystemFailure.Reboot', 'rebooted', { source: 'EciService' });
  expect(of(instance(), said)).toMatchObject({ owner: 'cloud' });
});

test('a spot instance that is released is what its template bought', () => {
  const entry = condition(
    'ContainerInstanceCreated',
    'False',
    'SpotToBeReleased',
    'Spot ECI will be released in 3 minutes',
  );
  expect(of(instance(entry))).toMatchObject({ owner: 'app', state: 'expected', deadline: expect.any(String) });
});

test('neither counts as a refused launch; a refusal is none of this', () => {
  for (const reason of ['SpotToBeReleased', 'SystemFailureReboot', 'SystemReboot', 'Creating']) {
    const raw = factsOf({
      provider: 'ack',
      subject,
      objects: [instance(condition('ContainerInstanceCreated', 'False', reason))],
    });
    expect(launchFailures(new ClusterFacts(raw))).toEqual([]);
  }
  expect(of(instance(condition('ContainerInstanceCreated', 'False', 'NoStock', 'out of stock')))).toBeUndefined();
  expectSilent(rule, { provider: 'ack', subject, objects: [deployment, instance()] });
});
