import { expect, test } from 'vitest';
import rule from '../../src/rules/app/lifecycle-hook-fails.ts';
import { at, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'orders-0', namespace: 'shop' } as const;
const hooked = (rest: Record<string, any> = {}) =>
  pod('orders-0', 'n1', {
    ready: 'False',
    spec: { containers: [{ name: 'app', lifecycle: { postStart: { exec: { command: ['/warm.sh'] } } } }] },
    ...rest,
  });
const failed = (reason: string, message: string, time = at('08:25')) => event(hooked(), reason, message, { at: time });

test('a postStart hook that fails kills the container, in the words of both kubelets', () => {
  for (const message of [
    'PostStartHook failed',
    'Exec lifecycle hook ([/warm.sh]) for Container "app" failed - exit 1',
  ])
    expect(findingsOf(rule, { subject, objects: [hooked(), failed('FailedPostStartHook', message)] })[0]).toMatchObject(
      { owner: 'app', strength: 'direct', boundary: 'config', mechanism: 'crash' },
    );
});

test('where the events have expired the container’s state tells', () => {
  const status = {
    containerStatuses: [{ name: 'app', state: { waiting: { reason: 'PostStartHookError', message: 'exit 1' } } }],
  };
  expect(findingsOf(rule, { subject, objects: [hooked({ status })] })).toHaveLength(1);
});

test('a container of the platform’s is the platform’s', () => {
  const own = pod('agent-0', 'n1', { namespace: 'kube-system', ready: 'False' });
  const said = event(own, 'FailedPostStartHook', 'PostStartHook failed');
  expect(
    findingsOf(rule, { subject: { kind: 'Pod', name: 'agent-0', namespace: 'kube-system' }, objects: [own, said] })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('a preStop hook harms only a pod that does not end', () => {
  const ending = hooked();
  const stuck = { ...ending, metadata: { ...ending.metadata, deletionTimestamp: at('08:20') } };
  expect(
    findingsOf(rule, { subject, objects: [stuck, failed('FailedPreStopHook', 'PreStopHook failed')] }),
  ).toHaveLength(1);
  expectSilent(rule, { subject, objects: [hooked(), failed('FailedPreStopHook', 'PreStopHook failed')] });
});

test('stays silent on pods that are ready, and on a hook that failed long ago', () => {
  expectSilent(rule, {
    subject,
    objects: [pod('orders-0', 'n1'), failed('FailedPostStartHook', 'PostStartHook failed')],
  });
  expectSilent(rule, { subject, objects: [hooked(), failed('FailedPostStartHook', 'x', at('05:00'))] });
});
