import type { KubeObject } from '../../domain/kubernetes.ts';
import { shellWord } from '../../domain/shell.ts';
import type { ClusterFacts } from '../cluster.ts';
import { minutesBetween } from '../time.ts';

/** What applies an object's manifest, by the marks it leaves; Helm's own records are Secrets and never read. */
export interface Delivery {
  kind: 'Application' | 'Kustomization' | 'HelmRelease' | 'Release';
  name: string;
  namespace?: string;
  /** The deliverer's own object, where it was read. */
  object?: KubeObject;
}

const toolNames = {
  Application: 'Argo CD application',
  Kustomization: 'Flux Kustomization',
  HelmRelease: 'Flux HelmRelease',
  Release: 'Helm release',
};
export const nameOfDelivery = ({ kind, name, namespace }: Delivery): string =>
  `${toolNames[kind]} ${namespace ? `${namespace}/` : ''}${name}`;

/**
 * Flux labels what it applies; Argo CD tracks by annotation (default since 3.0) or label; Helm annotates what it
 * installed itself, which a chart rendered by Argo CD lacks.
 */
export const deliveryOf = (facts: ClusterFacts, object: KubeObject): Delivery | undefined => {
  const { labels = {}, annotations = {} } = object.metadata;
  for (const [kind, prefix] of [
    ['HelmRelease', 'helm.toolkit.fluxcd.io'],
    ['Kustomization', 'kustomize.toolkit.fluxcd.io'],
  ] as const) {
    const [name, namespace] = [labels[`${prefix}/name`], labels[`${prefix}/namespace`]];
    if (name) return { kind, name, namespace, object: facts.find(kind, name, namespace) };
  }
  const application = applicationOf(facts, object);
  if (application) return application;
  const release = annotations['meta.helm.sh/release-name'];
  return release
    ? { kind: 'Release', name: release, namespace: annotations['meta.helm.sh/release-namespace'] }
    : undefined;
};

const applicationOf = (facts: ClusterFacts, object: KubeObject): Delivery | undefined => {
  const { labels = {}, annotations = {}, name: own, namespace = '' } = object.metadata;
  const listed = facts
    .all('Application')
    .find((application) =>
      ((application.status?.resources ?? []) as any[]).some(
        (entry) => entry.kind === object.kind && entry.name === own && (entry.namespace ?? '') === namespace,
      ),
    );
  // Applications outside Argo CD's own namespace are tracked as `‹namespace›_‹name›`.
  const tracked = annotations['argocd.argoproj.io/tracking-id']?.split(':')[0] ?? labels['argocd.argoproj.io/instance'];
  const names = tracked?.split('_') ?? [];
  const found =
    listed ??
    facts
      .all('Application')
      .find(({ metadata }) => metadata.name === names.at(-1) && (names.length < 2 || metadata.namespace === names[0]));
  if (found)
    return { kind: 'Application', name: found.metadata.name, namespace: found.metadata.namespace, object: found };
  return tracked
    ? { kind: 'Application', name: names.at(-1)!, namespace: names.length > 1 ? names[0] : undefined }
    : undefined;
};

/** One deployment in a deliverer's own history. */
export interface Delivered {
  revision: string;
  at: string;
  /** Dotted path below the deliverer's object. */
  path: string;
  by?: string;
}

/** A change takes effect within minutes of its delivery. */
const sameDeliveryMinutes = 10;

/** The deployment in whose minutes something changed. */
export const deliveredAt = (delivery: Delivery, at: string): Delivered | undefined =>
  historyOf(delivery).findLast((entry) => Math.abs(minutesBetween(entry.at, at)) <= sameDeliveryMinutes);

/** Past deployments by the deliverer's own account, the newest last. */
export const historyOf = ({ kind, object }: Delivery): Delivered[] => {
  const status = object?.status ?? {};
  if (kind === 'Application') {
    const user = status.operationState?.operation?.initiatedBy?.username;
    const last = status.operationState?.syncResult?.revision;
    return ((status.history ?? []) as any[])
      .map((entry, index) => ({
        revision: entry.revision ?? entry.revisions?.join(', ') ?? '',
        at: entry.deployedAt ?? '',
        path: `status.history[${index}].revision`,
        by: entry.initiatedBy?.username ?? (entry.revision === last ? user : undefined),
      }))
      .sort((a, b) => (a.at < b.at ? -1 : 1));
  }
  if (kind === 'HelmRelease')
    return ((status.history ?? []) as any[])
      .map((entry, index) => ({
        revision: `${entry.version}, chart ${entry.chartName}-${entry.chartVersion}`,
        at: entry.lastDeployed ?? '',
        path: `status.history[${index}]`,
      }))
      .sort((a, b) => (a.at < b.at ? -1 : 1));
  const applied = ((status.conditions ?? []) as any[]).find(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  return kind === 'Kustomization' && status.lastAppliedRevision
    ? [
        {
          revision: status.lastAppliedRevision,
          at: applied?.lastTransitionTime ?? '',
          path: 'status.lastAppliedRevision',
        },
      ]
    : [];
};

/** `main@sha1:4f2c…` of Flux, or a plain hash. */
const commitOf = (revision: string | undefined): string =>
  /[0-9a-f]{7,40}$/.exec(revision ?? '')?.[0]?.slice(0, 12) ?? '<commit>';

/**
 * How whoever owns the object takes its last change back. What Git states is taken back there: a hand's change of the
 * cluster lasts until the next sync.
 */
export const undoOf = (delivery: Delivery | undefined, object: KubeObject): string | undefined => {
  if (!delivery) return undoByHand(object);
  const name = shellWord(delivery.name);
  const home = delivery.namespace ? ` -n ${shellWord(delivery.namespace)}` : '';
  const history = historyOf(delivery);
  switch (delivery.kind) {
    case 'Application': {
      const source = delivery.object?.spec?.source ?? delivery.object?.spec?.sources?.[0];
      const previous = ((delivery.object?.status?.history ?? []) as any[]).at(-2)?.id ?? '<id>';
      if (!delivery.object) return `argocd app history ${name}; argocd app rollback ${name} ${previous}`;
      return delivery.object.spec?.syncPolicy?.automated
        ? `git revert ${commitOf(history.at(-1)?.revision)} in ${source?.repoURL ?? 'its repository'}, which Argo CD syncs by itself (until then: argocd app set ${name} --sync-policy none && argocd app rollback ${name} ${previous})`
        : `argocd app rollback ${name} ${previous}`;
    }
    case 'Kustomization':
      return `git revert ${commitOf(history.at(-1)?.revision)} in its source, then flux reconcile kustomization ${name}${home} --with-source`;
    case 'HelmRelease': {
      const entries: any[] = delivery.object?.status?.history ?? [];
      const [, previous] = [...entries].sort((a, b) => b.version - a.version);
      const target = previous?.namespace ?? delivery.object?.spec?.targetNamespace ?? delivery.namespace;
      return `flux suspend helmrelease ${name}${home} && helm rollback ${shellWord(previous?.name ?? delivery.name)} ${previous?.version ?? '<revision>'}${target ? ` -n ${shellWord(target)}` : ''}; then git revert the change and flux resume helmrelease ${name}${home}`;
    }
    case 'Release':
      return `helm history ${name}${home}; helm rollback ${name}${home}`;
  }
};

/** Kinds that keep their former templates. */
const undoable = /^(Deployment|StatefulSet|DaemonSet)$/;

const undoByHand = ({ kind, metadata }: KubeObject): string | undefined =>
  undoable.test(kind)
    ? `kubectl rollout undo ${kind.toLowerCase()}/${metadata.name} -n ${metadata.namespace}`
    : undefined;
