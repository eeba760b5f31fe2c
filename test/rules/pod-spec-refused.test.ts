import { expect, test } from 'vitest';
import rule from '../../src/rules/app/pod-spec-refused.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const refused = (message: string, age = 30, ...more: ReturnType<typeof object>[]) => {
  const app = deployment('web', { age });
  return findingsOf(rule, {
    subject,
    objects: [...app, event(app[1]!, 'FailedCreate', `Error creating: ${message}`, { at: minutesAgo(5) }), ...more],
  });
};

test('what the API server asks of the template is named in each wording', () => {
  const cases: [string, string][] = [
    ['pods "w" is forbidden: failed quota: compute: must specify limits.memory for: app', 'limits.memory'],
    ['pods "w" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi', 'LimitRange'],
    ['pods "w" is forbidden: [minimum cpu usage per Container is 100m, but request is 10m]', 'LimitRange'],
    [
      'pods "w" is forbidden: error looking up service account shop/robot: serviceaccount "robot" not found',
      'shop/robot',
    ],
    ['pods "w" is forbidden: no PriorityClass with name gold was found', 'gold'],
    ['Pod "w" is invalid: spec.containers[0].image: Required value', 'spec.containers[0].image'],
  ];
  for (const [message, named] of cases) {
    const [finding] = refused(message);
    expect(finding).toMatchObject({ owner: 'app', strength: 'direct' });
    expect(finding?.cause.en).toContain(named);
  }
});

test('a limit range that came after the template had been running is the platform’s', () => {
  const range = object('LimitRange', 'defaults', {
    namespace: 'shop',
    creationTimestamp: minutesAgo(20),
    spec: { limits: [] },
  });
  const [finding] = refused(
    'pods "w" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi',
    60 * 24 * 20,
    range,
  );
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived', root: { kind: 'LimitRange' } });
});

test('stays silent for a used-up quota, a denial and a webhook that could not be called', () => {
  for (const message of [
    'pods "w" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=5, limited: pods=5',
    'admission webhook "policy.example" denied the request: no',
    'Internal error occurred: failed calling webhook "policy.example": connection refused',
  ]) {
    const app = deployment('web');
    expectSilent(rule, { subject, objects: [...app, event(app[1]!, 'FailedCreate', `Error creating: ${message}`)] });
  }
});
