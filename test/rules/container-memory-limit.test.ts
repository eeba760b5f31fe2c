import { expect, test } from 'vitest';
import rule from '../../src/rules/app/container-memory-limit.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';
import { crashing, deployment, minutesAgo, node, podOf, series } from './workloads.ts';

const limited = { resources: { requests: { memory: '256Mi' }, limits: { memory: '512Mi' } } };
const killed = crashing(137, 'OOMKilled');
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };

test("a container killed by its own limit on a well node is its owner's, with the rollout that changed it", () => {
  const pod = podOf('web', 'a', { ready: false, container: limited, status: killed });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...deployment('web', { container: limited, before: { container: limited } }), pod, node('node-1')],
  });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'application', onset: minutesAgo(30) });
  expect(finding?.cause.en).toContain('512Mi');
  expect(finding?.cause.en).toContain('web:1 → registry.example/web:2');
});

test('names the heap setting that does not fit, and the platform for a container that was injected', () => {
  const container = { ...limited, env: [{ name: 'JAVA_TOOL_OPTIONS', value: '-XX:MaxRAMPercentage=85' }] };
  const java = podOf('web', 'a', { ready: false, container, status: killed });
  expect(
    findingsOf(rule, { subject, objects: [...deployment('web', { container }), java, node('node-1')] })[0]?.cause.en,
  ).toContain('MaxRAMPercentage=85');
  const sidecar = podOf('web', 'b', {
    ready: false,
    containers: [
      { name: 'app', image: 'a' },
      { name: 'proxy', image: 'p', ...limited },
    ],
    status: { ...killed, name: 'proxy' },
  });
  expect(findingsOf(rule, { subject, objects: [...deployment('web'), sidecar, node('node-1')] })[0]?.owner).toBe(
    'platform',
  );
});

test('a limit that only the namespace sets lets the platform share the work', () => {
  const pod = podOf('web', 'a', { ready: false, container: limited, status: killed });
  const [finding] = findingsOf(rule, { subject, objects: [...deployment('web'), pod, node('node-1')] });
  expect(finding?.contributing[0]?.owner).toBe('platform');
});

test('stays silent for a node out of memory, a kill of days ago, no limit, and exit 137 without OOM', () => {
  const pod = podOf('web', 'a', { ready: false, container: limited, status: killed });
  const well = node('node-1');
  const base = deployment('web', { container: limited });
  expectSilent(rule, {
    subject,
    objects: [...base, pod, well, event(well, 'SystemOOM', 'System OOM encountered, victim process: java, pid: 1')],
  });
  expectSilent(rule, {
    subject,
    objects: [...base, pod, node('node-1', { conditions: [condition('MemoryPressure', 'True')] })],
  });
  const old = structuredClone(killed);
  old.lastState.terminated.finishedAt = '2026-11-17T08:00:00Z';
  for (const status of [old, crashing(137, 'Error')])
    expectSilent(rule, {
      subject,
      objects: [...base, podOf('web', 'b', { ready: false, container: limited, status }), well],
    });
  expectSilent(rule, {
    subject,
    objects: [...deployment('web'), podOf('web', 'c', { ready: false, status: killed }), well],
  });
});

test('a killed child under cgroup v1 leaves exit 137 with Error: the kernel’s counter tells', () => {
  const pod = podOf('web', 'a', { ready: false, container: limited, status: crashing(137, 'Error') });
  const counter = series(
    'container_oom_events_total',
    { namespace: 'shop', pod: 'web-2-a', container: 'app' },
    [0, 0, 1, 2],
  );
  expect(
    findingsOf(rule, {
      subject,
      objects: [...deployment('web', { container: limited }), pod, node('node-1')],
      series: [counter],
    })[0]?.owner,
  ).toBe('app');
});
