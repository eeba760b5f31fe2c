import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/timeout-cut-by-release.ts';
import { findingsOf } from './harness.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const env = (name: string, value: string) => ({ env: [{ name, value }] });
const judged = (options: {
  name?: string;
  before: string;
  after: string;
  since?: number;
  line?: string;
  witness?: string;
}) => {
  const name = options.name ?? 'PARTNER_TIMEOUT_MS';
  const pod = podOf('web', 'a');
  const other: KubeObject = podOf('docs', 'a', { namespace: 'customs' });
  const line =
    options.line ?? 'ERROR GET https://addr.partner.example/v1: context deadline exceeded (Client.Timeout exceeded)';
  return findingsOf(rule, {
    subject,
    objects: [
      ...deployment('web', {
        age: 30,
        container: env(name, options.after),
        before: { container: env(name, options.before) },
      }),
      ...deployment('docs', { namespace: 'customs', age: 9000 }),
      pod,
      other,
    ],
    logs: [
      logOf(pod, `${minutesAgo(options.since ?? 25)} ${line}`),
      logOf(other, options.witness ?? `${minutesAgo(3)} INFO sorted 12 documents`),
    ],
  });
};

test('calls that fail since the caller cut its own timeout are its release’s', () => {
  const [finding] = judged({ before: '5000', after: '150' });
  expect(finding).toMatchObject({ owner: 'app', strength: 'derived', boundary: 'config', onset: minutesAgo(30) });
  expect(finding!.cause.en).toContain('PARTNER_TIMEOUT_MS from 5000 to 150');
  const pool = judged({
    name: 'DB_POOL_SIZE',
    before: '20',
    after: '2',
    line: 'ERROR Timeout waiting for connection from pool',
  });
  expect(pool[0]?.owner).toBe('app');
});

test('it is sure where the complaint gives the new limit, or the same host answers somebody else', () => {
  const line = 'ERROR GET https://addr.partner.example/v1: Client.Timeout exceeded after 150ms';
  expect(judged({ before: '5s', after: '150ms', line })[0]?.strength).toBe('direct');
  const witness = `${minutesAgo(3)} INFO GET https://addr.partner.example/v1 200 388ms`;
  expect(judged({ before: '5000', after: '150', witness })[0]?.strength).toBe('direct');
});

test('stays silent for failures before the release, a raised timeout, and settings that bound nothing', () => {
  expect(judged({ before: '5000', after: '150', since: 60 })).toEqual([]);
  expect(judged({ before: '150', after: '5000' })).toEqual([]);
  expect(judged({ name: 'LOG_LEVEL', before: '5', after: '1' })).toEqual([]);
  expect(judged({ before: '5000', after: '5000' })).toEqual([]);
});
