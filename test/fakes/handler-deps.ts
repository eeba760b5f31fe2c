import { describeProblem, loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { HandlerDeps } from '../../src/http/deps.ts';
import { createMetrics } from '../../src/http/metrics.ts';

/** The configuration that YAML text gives, as if it were the whole of faultline.yaml. */
export const configOf = (yaml: string): Config => {
  const loaded = loadConfig({ FAULTLINE_CONFIG: 'faultline.yaml' }, () => yaml);
  if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'));
  return loaded.config;
};

/** What a test did not provide is not to be used: touching it fails the test by name. */
const absent = (path: string): any =>
  new Proxy(() => {}, {
    get: (_target, name) => (typeof name === 'string' ? absent(`${path}.${name}`) : undefined),
    apply: () => {
      throw new Error(`${path} was called and the test provides none`);
    },
  });

export const handlerDeps = (given: Partial<HandlerDeps> = {}): HandlerDeps => ({
  config: configOf(''),
  now: () => '2026-11-20T08:30:00.000Z',
  store: absent('store'),
  outbox: absent('outbox'),
  metrics: createMetrics(),
  receive: absent('receive'),
  act: absent('act'),
  command: absent('command'),
  rerun: absent('rerun'),
  view: absent('view'),
  incidentCase: absent('incidentCase'),
  reasoning: absent('reasoning'),
  slackEvents: null,
  onChange: absent('onChange'),
  checks: { database: async () => {}, queue: async () => {} },
  outboxDepth: async () => 0,
  deadJobs: async () => 0,
  ...given,
});
