import { expect, test } from 'vitest';
import rule from '../../src/rules/app/admission-denied.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const denied = (message: string, age: number, ...more: ReturnType<typeof object>[]) => {
  const app = deployment('web', { age, image: 'ghcr.io/lab/web:2', before: {} });
  return findingsOf(rule, {
    subject,
    objects: [
      ...app,
      event(app[1]!, 'FailedCreate', `Error creating: ${message}`, { at: minutesAgo(age > 60 ? 5 : age - 1) }),
      ...more,
    ],
  })[0];
};

test('a new template that an old policy refuses is the application’s, with what changed in it', () => {
  for (const message of [
    'admission webhook "validate.kyverno.svc-fail" denied the request: images must come from registry.example',
    'pods "w" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
    `pods "w" is forbidden: ValidatingAdmissionPolicy 'images' with binding 'all' denied request: no latest tag`,
  ]) {
    const finding = denied(message, 30);
    expect(finding).toMatchObject({ owner: 'app', boundary: 'admission', strength: 'direct' });
    expect(finding?.cause.en).toContain('ghcr.io/lab/web:2');
  }
});

test('an old template that a changed policy refuses is the platform’s', () => {
  const policy = object('ValidatingWebhookConfiguration', 'policy', {
    creationTimestamp: minutesAgo(20),
    webhooks: [{ name: 'policy.example' }],
  });
  expect(
    denied('admission webhook "policy.example" denied the request: label missing', 60 * 24 * 9, policy),
  ).toMatchObject({
    owner: 'platform',
    root: { kind: 'ValidatingWebhookConfiguration' },
  });
});

test('an old template with no trace of a change is not a sure case', () => {
  expect(denied('admission webhook "policy.example" denied the request: label missing', 60 * 24 * 9)?.strength).toBe(
    'derived',
  );
});

test('stays silent where the webhook failed rather than refused', () => {
  const app = deployment('web');
  expectSilent(rule, {
    subject,
    objects: [
      ...app,
      event(
        app[1]!,
        'FailedCreate',
        'Error creating: Internal error occurred: failed calling webhook "policy.example": context deadline exceeded',
      ),
    ],
  });
});
