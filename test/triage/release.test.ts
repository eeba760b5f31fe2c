import { expect, test } from 'vitest';
import type { Finding } from '../../src/domain/finding.ts';
import { type KubeObject, refOf } from '../../src/domain/kubernetes.ts';
import { text } from '../../src/domain/text.ts';
import { cite } from '../../src/facts/cite.ts';
import { ClusterFacts } from '../../src/facts/cluster.ts';
import { scopeOf } from '../../src/facts/scope.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { withRelease } from '../../src/triage/release.ts';
import { factsOf, object } from '../rules/harness.ts';
import { deployment, minutesAgo } from '../rules/workloads.ts';

const byHand = 'kubectl rollout undo deployment/web -n shop';
const factsWith = (objects: KubeObject[], alerted = 10) =>
  new ClusterFacts(
    factsOf({
      subject: { kind: 'Deployment', name: 'web', namespace: 'shop' },
      objects,
      alerts: [
        {
          status: 'firing',
          labels: { alertname: 'KubePodCrashLooping' },
          annotations: {},
          startsAt: minutesAgo(alerted),
          endsAt: '0001-01-01T00:00:00Z',
          fingerprint: '1',
        },
      ],
    }),
  );

const finding = (root: KubeObject, rest: Partial<Finding> = {}): Finding => ({
  rule: 'crash-says-why',
  mechanism: 'crash',
  explains: [],
  state: 'fault',
  owner: 'app',
  boundary: 'application',
  strength: 'direct',
  cause: text('It crashes.'),
  root: refOf(root),
  affects: [refOf(root)],
  evidence: [],
  chain: [],
  contributing: [],
  nextSteps: [text('read the log')],
  missing: [],
  ...rest,
});

const application = (rest: Record<string, any> = {}) =>
  object('Application', 'shop', {
    apiVersion: 'argoproj.io/v1alpha1',
    namespace: 'argocd',
    spec: { source: { repoURL: 'https://git.example/shop' }, ...rest },
    status: {
      resources: [{ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }],
      operationState: {
        operation: { initiatedBy: { username: 'dana' } },
        syncResult: { revision: '4f2c1d9a8b7e' },
      },
      history: [
        { id: 40, revision: '0a1b2c3d4e5f', deployedAt: minutesAgo(9000) },
        { id: 41, revision: '4f2c1d9a8b7e', deployedAt: minutesAgo(21) },
      ],
    },
  });

test('a change shortly before the onset is cited with what it changed, and the rollback is the next step', () => {
  const objects = deployment('web', { age: 22, before: {} });
  const told = withRelease(finding(objects[0]!), factsWith(objects));
  expect(told.evidence).toHaveLength(1);
  expect(told.evidence[0]!.object).toBe('ReplicaSet shop/web-2');
  expect(told.evidence[0]!.text).toBe(
    'changed 12 min before the alert: image registry.example/web:1 → registry.example/web:2',
  );
  expect(told.nextSteps.map(({ en }) => en)).toEqual([
    'read the log',
    `If the change of Deployment shop/web is not to stay: ${byHand}`,
  ]);
});

test('who applied it, which revision, and the way back that lasts: Argo CD, without and with automated sync', () => {
  const objects = deployment('web', { age: 20, before: {} });
  const root = finding(objects[0]!, { nextSteps: [text(`${byHand}, and see whether it falls back`)] });
  const byHandSync = withRelease(root, factsWith([...objects, application()]));
  expect(byHandSync.evidence[1]).toMatchObject({
    object: 'Application argocd/shop',
    field: 'status.history[1].revision',
    value: '4f2c1d9a8b7e',
  });
  expect(byHandSync.evidence[0]!.text).toContain(
    'by Argo CD application argocd/shop at revision 4f2c1d9a8b7e, synced by dana',
  );
  expect(byHandSync.nextSteps[0]!.en).toBe('argocd app rollback shop 40, and see whether it falls back');
  const automated = withRelease(root, factsWith([...objects, application({ syncPolicy: { automated: {} } })]));
  expect(automated.nextSteps[0]!.en).toContain('git revert 4f2c1d9a8b7e in https://git.example/shop');
});

test('Flux and Helm are known by their marks', () => {
  const steps = (meta: Record<string, any>, objects: KubeObject[] = []) => {
    const workload = deployment('web', { age: 20, before: {} });
    Object.assign(workload[0]!.metadata, meta);
    return withRelease(finding(workload[0]!), factsWith([...workload, ...objects])).nextSteps.at(-1)!.en;
  };
  const flux = (prefix: string) => ({ labels: { [`${prefix}/name`]: 'shop', [`${prefix}/namespace`]: 'apps' } });
  const release = object('HelmRelease', 'shop', {
    namespace: 'apps',
    status: {
      history: [
        {
          name: 'shop',
          namespace: 'shop',
          version: 7,
          chartName: 'web',
          chartVersion: '1.4.0',
          lastDeployed: minutesAgo(21),
        },
        {
          name: 'shop',
          namespace: 'shop',
          version: 6,
          chartName: 'web',
          chartVersion: '1.3.9',
          lastDeployed: minutesAgo(900),
        },
      ],
    },
  });
  expect(steps(flux('kustomize.toolkit.fluxcd.io'))).toContain(
    'flux reconcile kustomization shop -n apps --with-source',
  );
  expect(steps(flux('helm.toolkit.fluxcd.io'), [release])).toContain('helm rollback shop 6 -n shop');
  expect(
    steps({ annotations: { 'meta.helm.sh/release-name': 'shop', 'meta.helm.sh/release-namespace': 'shop' } }),
  ).toContain('helm rollback shop -n shop');
});

test('adds nothing for a change after the onset, one of long ago, a first revision, and an object of somebody else', () => {
  const told = (objects: KubeObject[], rest: Partial<Finding> = {}, alerted = 10) => {
    const root = finding(objects[0]!, rest);
    return withRelease(root, factsWith(objects, alerted)) === root;
  };
  expect(told(deployment('web', { age: 22, before: {} }))).toBe(false);
  expect(told(deployment('web', { age: 5, before: {} }))).toBe(true);
  expect(told(deployment('web', { age: 22, before: {} }), { onset: minutesAgo(40) })).toBe(true);
  expect(told(deployment('web', { age: 300, before: {} }))).toBe(true);
  expect(told(deployment('web', { age: 22 }))).toBe(true);
  expect(told(deployment('web', { age: 22, before: {} }), { owner: 'platform' })).toBe(true);
  expect(told(deployment('web', { age: 22, before: {} }), { state: 'expected' })).toBe(true);
});

test('an object without revisions tells its change by its last writer; a controller’s status is none', () => {
  const policy = (entry: Record<string, any>) => {
    const made = object('NetworkPolicy', 'deny', { namespace: 'shop', spec: {} });
    made.metadata.managedFields = [{ manager: 'kubectl-edit', operation: 'Update', time: minutesAgo(15), ...entry }];
    return withRelease(finding(made), factsWith([made])).evidence.map((entry) => entry.text);
  };
  expect(policy({})).toEqual(['changed 5 min before the alert by kubectl-edit']);
  expect(policy({ subresource: 'status' })).toEqual([]);
});

test('where nobody is found at fault the change is evidence and no advice', () => {
  const objects = deployment('web', { age: 22, before: {} });
  const told = withRelease(finding(objects[0]!, { owner: 'undetermined' }), factsWith(objects));
  expect(told.evidence).toHaveLength(1);
  expect(told.nextSteps).toHaveLength(1);
});

test('what a rule cites of the rollout itself says when and by whom as well, once', () => {
  const objects = deployment('web', { age: 22, before: {} });
  const facts = factsWith(objects);
  const own = cite('app', facts).field(objects[1]!, 'metadata.creationTimestamp', minutesAgo(22), 'image changed');
  const { evidence } = withRelease(finding(objects[0]!, { evidence: [own] }), facts);
  expect(evidence).toHaveLength(1);
  expect(evidence[0]!.text).toContain('12 min before the alert: image');
});

test('the verdict shows it', () => {
  const objects = deployment('web', { age: 22, before: {} });
  const facts = factsWith(objects);
  const findings = [finding(objects[0]!)];
  const verdict = attribute({ facts, scope: scopeOf(facts), findings, silent: [], broken: [] }, 'test');
  expect(verdict.evidence[0]!.text).toContain('changed 12 min before the alert');
  expect(verdict.nextSteps.at(-1)!.en).toContain(byHand);
});
