import type { KubeObject, ObjectRef } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition, isTrue } from '../conditions.ts';
import { latest } from '../time.ts';
import type { Delivery } from './delivery.ts';

/** A sync, build, install or upgrade that failed and has not been made good since. */
export interface FailedDelivery {
  delivery: Delivery & { object: KubeObject };
  /** Dotted path of what says so, below the deliverer's object. */
  path: string;
  /** Phase or reason: `Failed`, `UpgradeFailed` … */
  reason: string;
  /** The tool's own words, those of the parts that failed among them. */
  message: string;
  at: string | undefined;
  /** What of it could not be applied, or failed as a hook. */
  parts: { ref: ObjectRef; message: string; hook: boolean; path: string }[];
  /** Where it delivers to. */
  namespace: string | undefined;
}

export const failedDeliveries = (facts: ClusterFacts): FailedDelivery[] => [
  ...facts.all('Application').flatMap(failedSync),
  ...[...facts.all('Kustomization'), ...facts.all('HelmRelease')].flatMap(failedReconciliation),
];

/** Argo CD's errors about an application, beside those of a sync. */
const applicationError = /^(SyncError|ComparisonError|InvalidSpecError|UnknownError)$/;
/** A sync that is tried anew has failed as often. */
const failedTries = 2;

const failedSync = (application: KubeObject): FailedDelivery[] => {
  const { operationState: state, history = [], conditions = [] } = application.status ?? {};
  const delivered = latest(...history.map((entry: any) => entry.deployedAt)) ?? '';
  const retried = state?.phase === 'Running' && (state.retryCount ?? 0) >= failedTries;
  const failed = /^(Failed|Error)$/.test(state?.phase ?? '') || retried;
  const error = (conditions as any[]).find(({ type }) => applicationError.test(type));
  const ended = state?.finishedAt ?? state?.startedAt;
  const parts = ((state?.syncResult?.resources ?? []) as any[]).flatMap((entry, index) =>
    entry.status === 'SyncFailed' || /^(Failed|Error)$/.test(entry.hookPhase ?? '')
      ? [
          {
            ref: { kind: entry.kind, name: entry.name, ...(entry.namespace ? { namespace: entry.namespace } : {}) },
            message: entry.message ?? '',
            hook: Boolean(entry.hookType || (entry.hookPhase && entry.status !== 'SyncFailed')),
            path: `status.operationState.syncResult.resources[${index}].message`,
          },
        ]
      : [],
  );
  const base = {
    delivery: deliveryFrom('Application', application),
    namespace: application.spec?.destination?.namespace,
  };
  if (failed && !(ended && delivered > ended))
    return [
      {
        ...base,
        path: 'status.operationState.message',
        reason: state.phase,
        message: [state.message, ...parts.map((part) => part.message)].filter(Boolean).join('; '),
        at: ended,
        parts,
      },
    ];
  return error
    ? [
        {
          ...base,
          path: `status.conditions[${error.type}].message`,
          reason: error.type,
          message: error.message ?? '',
          at: error.lastTransitionTime,
          parts: [],
        },
      ]
    : [];
};

/** Reasons of Ready=False while a reconciliation is under way, or waits for another one. */
const underWay = /^(Progressing|ProgressingWithRetry|DependencyNotReady|Unknown)$/;

const failedReconciliation = (object: KubeObject): FailedDelivery[] => {
  const ready = condition(object, 'Ready');
  if (object.spec?.suspend || ready?.status !== 'False' || underWay.test(ready.reason ?? '')) return [];
  // A remediated upgrade says `RollbackSucceeded`; why it was rolled back stands in Released.
  const released = condition(object, 'Released');
  const told = released?.status === 'False' && isTrue(object, 'Remediated') ? released : ready;
  return [
    {
      delivery: deliveryFrom(object.kind === 'HelmRelease' ? 'HelmRelease' : 'Kustomization', object),
      path: `status.conditions[${told.type}].message`,
      reason: told.reason ?? '',
      message: told.message ?? '',
      at: told.lastTransitionTime,
      parts: namedParts(told.message ?? '', object.spec?.targetNamespace ?? object.metadata.namespace),
      namespace: object.spec?.targetNamespace ?? object.metadata.namespace,
    },
  ];
};

const deliveryFrom = (kind: Delivery['kind'], object: KubeObject): FailedDelivery['delivery'] => ({
  kind,
  name: object.metadata.name,
  namespace: object.metadata.namespace,
  object,
});

/** `ConfigMap/shop/settings dry-run failed: …` of Flux, `Deployment.apps "web" is invalid` of the API server. */
const namedParts = (message: string, home: string | undefined): FailedDelivery['parts'] => {
  const byPath = [
    ...message.matchAll(
      /\b([A-Z]\w+)\/([a-z0-9.-]+)\/([a-z0-9.-]+)(?= (?:dry-run|not found|failed|namespace|status))/g,
    ),
  ].map(([, kind, namespace, name]) => ({ kind: kind!, namespace: namespace!, name: name! }));
  const byQuote = [...message.matchAll(/\b([A-Z]\w+)(?:\.[\w.]+)? "([a-z0-9.-]+)" is invalid/g)].map(
    ([, kind, name]) => ({
      kind: kind!,
      name: name!,
      ...(home ? { namespace: home } : {}),
    }),
  );
  return [...byPath, ...byQuote].map((ref) => ({ ref, message, hook: false, path: '' }));
};
