import { expect, test } from 'vitest';
import rule from '../../src/rules/app/own-storage-limit.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const evicted = (message: string) => {
  const pod = podOf('web', 'a', { ready: false });
  pod.status.phase = 'Failed';
  pod.status.reason = 'Evicted';
  pod.status.message = message;
  return pod;
};

test('each of the kubelet’s wordings for a limit of the pod itself', () => {
  for (const message of [
    'Container app exceeded its local ephemeral storage limit "1Gi". ',
    'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
    'Usage of EmptyDir volume "cache" exceeds the limit "500Mi". ',
  ]) {
    expect(findingsOf(rule, { subject, objects: [...deployment('web'), evicted(message)] })[0]).toMatchObject({
      owner: 'app',
      strength: 'direct',
    });
    const pod = podOf('web', 'b');
    expect(
      findingsOf(rule, { subject, objects: [...deployment('web'), pod, event(pod, 'Evicted', message)] }),
    ).toHaveLength(1);
  }
});

test('stays silent where the node was short', () => {
  expectSilent(rule, {
    subject,
    objects: [
      ...deployment('web'),
      evicted('The node was low on resource: ephemeral-storage. Container app was using 3Gi, request is 0. '),
    ],
  });
});
