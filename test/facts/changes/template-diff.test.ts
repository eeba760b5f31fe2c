import { expect, test } from 'vitest';
import { templateChanges } from '../../../src/facts/changes/template-diff.ts';
import { object } from '../../rules/harness.ts';

const set = (container: Record<string, any>, rest: Record<string, any> = {}, meta: Record<string, any> = {}) =>
  object('ReplicaSet', 'web', {
    spec: {
      template: { metadata: meta, spec: { containers: [{ name: 'app', image: 'web:1', ...container }], ...rest } },
    },
  });

test('names each field that differs, with both values, and nothing else', () => {
  const before = set({ env: [{ name: 'MODE', value: 'a' }], resources: { limits: { memory: '1Gi' } } });
  const after = set({ image: 'web:2', env: [{ name: 'MODE', value: 'b' }], resources: { limits: { memory: '1Gi' } } });
  expect(templateChanges(before, after)).toEqual(['image web:1 → web:2', 'env MODE a → b']);
  expect(templateChanges(before, before)).toEqual([]);
});

test('sees what a pod asks of its surroundings, and containers that come and go', () => {
  const selector = set(
    {},
    { nodeSelector: { pool: 'arm' }, volumes: [{ name: 'v', configMap: { name: 'settings' } }] },
  );
  expect(templateChanges(set({}), selector)).toEqual([
    'volumes none → [{"name":"v","configMap":{"name":"settings"}}]',
    'nodeSelector none → {"pool":"arm"}',
  ]);
  const two = object('ReplicaSet', 'web', {
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'app', image: 'web:1' },
            { name: 'proxy', image: 'envoy:1' },
          ],
        },
      },
    },
  });
  expect(templateChanges(set({}), two)).toEqual(['container proxy added (envoy:1)']);
  expect(templateChanges(two, set({}))).toEqual(['container proxy removed']);
});

test('a restart is no change; a changed checksum of the configuration is one; a long value is named by its field', () => {
  const meta = (annotations: Record<string, string>) => set({}, {}, { annotations });
  expect(templateChanges(meta({}), meta({ 'kubectl.kubernetes.io/restartedAt': '2026-11-20T08:00:00Z' }))).toEqual([]);
  expect(templateChanges(meta({ 'checksum/config': 'a' }), meta({ 'checksum/config': 'b' }))).toEqual([
    'annotation checksum/config a → b',
  ]);
  expect(templateChanges(set({ args: ['x'.repeat(300)] }), set({ args: ['y'] }))).toEqual(['args changed']);
});
