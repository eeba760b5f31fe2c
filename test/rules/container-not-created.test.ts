import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/container-not-created.ts';
import { at, node, owned, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' } as const;
const held = (name: string, workload: string, message: string | undefined) =>
  pod(name, 'n1', {
    ...owned('StatefulSet', workload),
    phase: 'Pending',
    ready: 'False',
    status: {
      containerStatuses: [
        {
          name: 'app',
          state: { waiting: message ? { reason: 'CreateContainerError', message } : { reason: 'ContainerCreating' } },
        },
      ],
    },
  });
const reserved =
  'failed to reserve container name "app_web-1_shop_x_0": name "app_web-1_shop_x_0" is reserved for "3f"';

test('one pod is a hint, several workloads on the node take the doubt away', () => {
  expect(findingsOf(rule, { subject, objects: [node('n1'), held('web-1', 'web', reserved)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'circumstantial',
    boundary: 'node',
  });
  expect(
    findingsOf(rule, {
      subject,
      objects: [node('n1'), held('web-1', 'web', 'context deadline exceeded'), held('db-0', 'db', reserved)],
    })[0],
  ).toMatchObject({ strength: 'derived', root: { kind: 'Node', name: 'n1' } });
});

test('the event tells where the state does not', () => {
  const waiting = held('web-1', 'web', undefined);
  expect(
    findingsOf(rule, {
      subject,
      objects: [node('n1'), waiting, event(waiting, 'Failed', 'Error: context deadline exceeded')],
    }),
  ).toHaveLength(1);
});

test('stays silent on a program that cannot be started, on pulls, and on what has passed', () => {
  const waiting = held('web-1', 'web', undefined);
  expectSilent(rule, {
    subject,
    objects: [node('n1'), held('web-1', 'web', 'exec: "/run.sh": stat /run.sh: no such file or directory')],
  });
  expectSilent(rule, {
    subject,
    objects: [node('n1'), waiting, event(waiting, 'Failed', 'Failed to pull image "a": context deadline exceeded')],
  });
  expectSilent(rule, {
    subject,
    objects: [node('n1'), waiting, event(waiting, 'Failed', 'Error: context deadline exceeded', { at: at('06:00') })],
  });
});
