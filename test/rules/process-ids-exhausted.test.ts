import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/process-ids-exhausted.ts';
import { node } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf, series } from './workloads.ts';

const subject = { kind: 'Node', name: 'node-1' };
const starved = node('node-1', 'True', { conditions: [condition('KernelReady', 'False', 'ForkFailedOutOfPIDs')] });
const pressed = node('node-1', 'True', { conditions: [condition('PIDPressure', 'True')] });
const culprit = podOf('convert', 'a', { container: { command: ['/app/serve.sh'] } });
const victim = podOf('letters', 'b');
const objects = [...deployment('convert'), ...deployment('letters'), culprit, victim];
const zombies = event(starved, 'ExcessiveZombieProcesses', 'Process 81423 (serve.sh) has 29871 zombie children');
const processes = (pod: typeof culprit, values: number[]) =>
  series('container_processes', { namespace: 'shop', pod: pod.metadata.name }, values);
const grown = processes(culprit, [40, 10000, 29900]);

test('the agent names the parent, the pod’s own count grows, or both', () => {
  const judged = (rest: object[], counts = [grown]) =>
    findingsOf(rule, { subject, objects: [...objects, ...(rest as typeof objects)], series: counts })[0];
  expect(judged([starved, zombies])).toMatchObject({ owner: 'app', boundary: 'node', strength: 'direct' });
  expect(judged([starved, zombies], [])).toMatchObject({ owner: 'app', strength: 'derived' });
  expect(judged([pressed], [grown, processes(victim, [30, 30, 30])])).toMatchObject({
    owner: 'app',
    strength: 'derived',
  });
});

test('stays silent without a culprit, with two, and on nodes that can fork', () => {
  expectSilent(rule, { subject, objects: [...objects, starved] });
  expectSilent(rule, {
    subject,
    objects: [...objects, starved],
    series: [grown, processes(victim, [30, 9000, 25000])],
  });
  expectSilent(rule, { subject, objects: [...objects, node('node-1')], series: [grown] });
});
