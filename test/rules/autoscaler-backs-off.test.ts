import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/autoscaler-backs-off.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const backoff = event(pod, 'NotTriggerScaleUp', "pod didn't trigger scale-up: 1 in backoff after failed scale-up", {
  source: 'cluster-autoscaler',
});

test('undetermined, with the read that would tell', () => {
  const [finding] = findingsOf(rule, { subject, objects: [pod, backoff] });
  expect(finding).toMatchObject({ owner: 'undetermined' });
  expect(finding?.missing).toHaveLength(1);
});

test('silent once the error itself is known', () => {
  expectSilent(rule, {
    subject,
    objects: [
      pod,
      backoff,
      event(
        pod,
        'FailedScaleUp',
        'Node scale up in zones us-central1-a associated with this pod failed: GCE quota exceeded.',
        { source: 'cluster-autoscaler' },
      ),
    ],
  });
});

test('the status in text of versions before 1.30 says it too, where the event has expired', () => {
  const status = (scaleUp: string) => `Cluster-autoscaler status at 2026-11-20 08:29:40.1 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=4 unready=0 registered=4 longUnregistered=0)
NodeGroups:
  Name:        workers
  Health:      Healthy (ready=4 unready=0 registered=4 longUnregistered=0 cloudProviderTarget=4 (minSize=1, maxSize=9))
  ScaleUp:     ${scaleUp} (ready=4 cloudProviderTarget=4)
               LastTransitionTime: 2026-11-20 08:20:00.2 +0000 UTC
`;
  const map = (scaleUp: string) =>
    object('ConfigMap', 'cluster-autoscaler-status', { namespace: 'kube-system', data: { status: status(scaleUp) } });
  const [finding] = findingsOf(rule, { subject, objects: [pod, map('Backoff')] });
  expect(finding).toMatchObject({ owner: 'undetermined', root: { kind: 'ConfigMap' } });
  expect(finding?.cause.en).toContain('node group workers');
  expectSilent(rule, { subject, objects: [pod, map('NoActivity')] });
  const acted = event(pod, 'TriggeredScaleUp', 'pod triggered scale-up: [{other 1->2 (max: 9)}]', {
    source: 'cluster-autoscaler',
  });
  expectSilent(rule, { subject, objects: [pod, map('Backoff'), acted] });
});
