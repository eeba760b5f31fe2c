import { expect, test } from 'vitest';
import rule from '../../src/rules/app/service-selects-nothing.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const service = (selector: Record<string, string> | undefined, targetPort: string | number = 8080) =>
  object('Service', 'web', { namespace: 'shop', spec: { selector, ports: [{ port: 80, targetPort }] } });
const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const app = deployment('web');
const judged = (...objects: ReturnType<typeof object>[]) => findingsOf(rule, { subject, read: ['pods'], objects })[0];

test('a selector that no pod meets, a port nobody names and a workload at zero are configuration', () => {
  expect(judged(...app, podOf('web', 'a'), service({ app: 'web', tier: 'front' }))).toMatchObject({
    owner: 'app',
    boundary: 'config',
    strength: 'direct',
    root: { kind: 'Service' },
  });
  expect(judged(...app, podOf('web', 'a'), service({ app: 'web' }, 'http'))?.cause.en).toContain('targetPort "http"');
  expect(judged(...deployment('web', { replicas: 0 }), service({ app: 'web' }))).toMatchObject({
    root: { kind: 'Deployment', name: 'web' },
  });
});

test('stays silent where pods are selected, ready or not, and for a Service without selector', () => {
  expectSilent(rule, {
    subject,
    objects: [...app, podOf('web', 'a', { ready: false }), service({ app: 'web' })],
    read: ['pods'],
  });
  expectSilent(rule, { subject, objects: [...app, podOf('web', 'a'), service(undefined)], read: ['pods'] });
});
