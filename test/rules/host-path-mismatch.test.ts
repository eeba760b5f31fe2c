import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/host-path-mismatch.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { logOf, node } from './workloads.ts';

const daemon = (name: string, namespace: string, path: string) => {
  const spec = {
    containers: [{ name: 'app', args: [`--root ${path}`] }],
    volumes: [{ name: 'h', hostPath: { path } }],
  };
  const set = object('DaemonSet', name, { namespace, apiVersion: 'apps/v1', spec: { template: { spec } } });
  const pod = object('Pod', `${name}-1`, {
    namespace,
    ownerReferences: [{ kind: 'DaemonSet', name, uid: `uid-DaemonSet-${name}`, controller: true }],
    spec: { ...spec, nodeName: 'node-1' },
    status: { phase: 'Running' },
  });
  return { set, pod };
};
const subject = { kind: 'Service', name: 'portal', namespace: 'jobs' };
const machine = node('node-1');
const runner = daemon('runner', 'jobs', '/data/jobs/runtime');
const watcher = (path: string) => daemon('watcher', 'node-tools', path);
const some = logOf(runner.pod, '2026-11-20T08:29:00Z INFO heartbeat active_jobs=6 max=12');
const situation = (path: string, words = 'count=0') => {
  const other = watcher(path);
  const removed = event(machine, 'DisruptionTerminating', 'Disrupting Node: Empty', {
    type: 'Normal',
    source: 'karpenter',
  });
  return {
    subject,
    objects: [machine, runner.set, runner.pod, other.set, other.pod, removed],
    logs: [some, logOf(other.pod, `2026-11-20T08:29:00Z node=node-1 ${words}`)],
  };
};

test('a watcher that looks in another place than the work is in belongs to who runs the watcher', () => {
  const [finding] = findingsOf(rule, situation('/run/runtime'));
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'config', root: { name: 'watcher' } });
  expect(finding?.cause.en).toContain('/run/runtime');
  expect(finding?.cause.en).toContain('/data/jobs/runtime');
});

test('stays silent where both look at one path, and where the watcher sees the work', () => {
  expectSilent(rule, situation('/data/jobs/runtime'));
  expectSilent(rule, situation('/run/runtime', 'count=6'));
});
