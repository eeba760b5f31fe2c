import { expect, test } from 'vitest';
import type { Alert } from '../../src/domain/alert.ts';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import rule from '../../src/rules/app/delivery-failed.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const alert = (alertname: string, labels: Record<string, string>): Alert => ({
  status: 'firing',
  labels: { alertname, ...labels },
  annotations: {},
  startsAt: minutesAgo(10),
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: '1',
});
const argoAlert = [alert('ArgoCDAppSyncFailed', { name: 'shop' })];
const fluxAlert = [alert('FluxReconciliationFailure', { name: 'shop', exported_namespace: 'shop' })];
const subject = { kind: 'Namespace', name: 'shop' };

const application = (message: string, rest: { state?: any; status?: any; resources?: any[] } = {}): KubeObject =>
  object('Application', 'shop', {
    apiVersion: 'argoproj.io/v1alpha1',
    namespace: 'argocd',
    spec: { destination: { namespace: 'shop' }, source: { repoURL: 'https://git.example/shop' } },
    status: {
      operationState: {
        phase: 'Failed',
        message,
        startedAt: minutesAgo(21),
        finishedAt: minutesAgo(20),
        syncResult: { revision: '4f2c1d9a8b7e', resources: rest.resources ?? [] },
        ...rest.state,
      },
      history: [{ id: 3, revision: '0a1b2c3d4e5f', deployedAt: minutesAgo(9000) }],
      ...rest.status,
    },
  });
const flux = (kind: string, reason: string, message: string, rest: Record<string, any> = {}): KubeObject =>
  object(kind, 'shop', {
    namespace: 'shop',
    spec: rest.spec ?? {},
    status: { conditions: [condition('Ready', 'False', reason, message), ...(rest.conditions ?? [])] },
  });
const judged = (made: KubeObject, alerts: Alert[]) => findingsOf(rule, { subject, alerts, objects: [made] });

test('what is delivered is not valid, or a policy denies it: whoever owns it', () => {
  const invalid = [
    'one or more objects failed to apply, reason: Deployment.apps "web" is invalid: spec.selector: Invalid value: field is immutable',
    'error validating data: [ValidationError(Deployment.spec): unknown field "replica"]',
    'no matches for kind "PodDisruptionBudget" in version "policy/v1beta1"',
    'admission webhook "validate.kyverno.svc-fail" denied the request: resource limits required',
  ];
  for (const message of invalid)
    expect(judged(application(message), argoAlert)[0]).toMatchObject({ owner: 'app', strength: 'direct' });
  const upgrade = `Helm upgrade failed for release shop/shop with chart web@1.4.0: execution error at (web/templates/deploy.yaml:3:4): image.tag is required`;
  const [finding] = judged(flux('HelmRelease', 'UpgradeFailed', upgrade), fluxAlert);
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct', boundary: 'config', mechanism: 'rollout' });
  expect(finding!.evidence[0]).toMatchObject({
    object: 'HelmRelease shop/shop',
    value: 'UpgradeFailed',
    text: upgrade,
  });
  const built = judged(
    flux('Kustomization', 'BuildFailed', 'kustomize build failed: accumulating resources'),
    fluxAlert,
  );
  expect(built[0]?.owner).toBe('app');
});

test('the same failure of what the platform itself delivers is the platform’s', () => {
  const made = application('error validating data: unknown field "foo"');
  made.spec.destination.namespace = 'ingress-nginx';
  expect(judged(made, argoAlert)[0]?.owner).toBe('platform');
});

test('the tool may not, cannot fetch, or asks a webhook that is down: the platform', () => {
  for (const message of [
    'namespaces "shop" is forbidden: User "system:serviceaccount:argocd:argocd-application-controller" cannot patch resource "namespaces"',
    'rpc error: code = Unknown desc = authentication required',
    'Internal error occurred: failed calling webhook "mutate.example": no endpoints available for service "hook"',
  ])
    expect(judged(application(message), argoAlert)[0]).toMatchObject({ owner: 'platform', strength: 'derived' });
  const source = flux(
    'Kustomization',
    'ArtifactFailed',
    'failed to checkout and determine revision: unable to clone: x509: certificate has expired',
  );
  expect(judged(source, fluxAlert)[0]?.owner).toBe('platform');
});

test('a delivery that waits for pods, or meets a quota, names nobody', () => {
  const waits = flux('HelmRelease', 'InstallFailed', 'Helm install failed: timed out waiting for the condition');
  expect(judged(waits, fluxAlert)[0]).toMatchObject({ owner: 'undetermined', strength: 'circumstantial' });
  expect(judged(application('pods "x" is forbidden: exceeded quota: team'), argoAlert)[0]?.owner).toBe('undetermined');
});

test('why a rolled back upgrade failed stands in Released; a retried sync counts; a failed hook is the release’s', () => {
  const rolledBack = flux('HelmRelease', 'RollbackSucceeded', 'Helm rollback to previous release succeeded', {
    conditions: [
      condition(
        'Released',
        'False',
        'UpgradeFailed',
        'Helm upgrade failed: template: web/deploy.yaml:9: nil pointer evaluating interface {}.tag',
      ),
      condition('Remediated', 'True', 'RollbackSucceeded'),
    ],
  });
  expect(judged(rolledBack, fluxAlert)[0]).toMatchObject({ owner: 'app', strength: 'direct' });
  const retried = application('error validating data: unknown field', {
    state: { phase: 'Running', retryCount: 4, finishedAt: undefined },
  });
  expect(judged(retried, argoAlert)).toHaveLength(1);
  const hook = application('one or more synchronization tasks completed unsuccessfully', {
    resources: [
      {
        kind: 'Job',
        namespace: 'shop',
        name: 'migrate',
        hookType: 'PreSync',
        hookPhase: 'Failed',
        message: 'Job has reached the specified backoff limit',
      },
    ],
  });
  expect(judged(hook, argoAlert)[0]).toMatchObject({ owner: 'app', boundary: 'application' });
});

test('reaches a workload whose template names what did not come', () => {
  const objects = [
    ...deployment('web'),
    podOf('web', 'a', { spec: { volumes: [{ name: 'v', configMap: { name: 'settings' } }] }, ready: false }),
    application('one or more objects failed to apply', {
      resources: [
        {
          kind: 'ConfigMap',
          namespace: 'shop',
          name: 'settings',
          status: 'SyncFailed',
          message: 'ConfigMap "settings" is invalid: data: Too long',
        },
      ],
    }),
  ];
  const [finding] = findingsOf(rule, { subject: { kind: 'Deployment', name: 'web', namespace: 'shop' }, objects });
  expect(finding).toMatchObject({ owner: 'app', strength: 'direct' });
  expect(finding!.explains).toContain('config-missing');
  expect(finding!.chain.map((entry) => entry.object)).toEqual(['Application argocd/shop', 'Deployment shop/web']);
});

test('stays silent for workloads that run on, other applications, and deliveries made good, suspended or under way', () => {
  const web = { kind: 'Deployment', name: 'web', namespace: 'shop' };
  const failed = application('error validating data: unknown field');
  expectSilent(rule, { subject: web, objects: [...deployment('web'), podOf('web', 'a'), failed] });
  expectSilent(rule, { subject, objects: [failed], alerts: [alert('ArgoCDAppSyncFailed', { name: 'other' })] });
  const again = application('error validating data', { status: { history: [{ id: 4, deployedAt: minutesAgo(5) }] } });
  expectSilent(rule, { subject, objects: [again], alerts: argoAlert });
  expectSilent(rule, { subject, objects: [application('', { state: { phase: 'Succeeded' } })], alerts: argoAlert });
  expectSilent(rule, {
    subject,
    objects: [flux('Kustomization', 'BuildFailed', 'kustomize build failed', { spec: { suspend: true } })],
    alerts: fluxAlert,
  });
  expectSilent(rule, { subject, objects: [flux('Kustomization', 'Progressing', 'reconciling')], alerts: fluxAlert });
});
