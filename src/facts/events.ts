import type { KubeEvent, KubeObject } from '../domain/kubernetes.ts';

/**
 * Brings v1 and events.k8s.io/v1 events to one shape. Time falls back series → last → eventTime → creation,
 * since either recorder leaves some of them empty.
 */
export const toEvent = (object: KubeObject): KubeEvent => {
  const regarding = object.regarding ?? object.involvedObject ?? {};
  const created = object.metadata.creationTimestamp ?? '';
  const first = object.firstTimestamp ?? object.deprecatedFirstTimestamp ?? object.eventTime ?? created;
  return {
    uid: object.metadata.uid,
    namespace: object.metadata.namespace ?? 'default',
    name: object.metadata.name,
    type: object.type ?? 'Normal',
    reason: object.reason ?? '',
    message: object.message ?? object.note ?? '',
    source: object.reportingComponent || object.reportingController || object.source?.component || '',
    host: object.source?.host,
    count: object.series?.count ?? object.count ?? object.deprecatedCount ?? 1,
    firstAt: first || created,
    lastAt:
      object.series?.lastObservedTime ??
      object.lastTimestamp ??
      object.deprecatedLastTimestamp ??
      object.eventTime ??
      first,
    regarding: {
      kind: regarding.kind ?? '',
      name: regarding.name ?? '',
      namespace: regarding.namespace,
      uid: regarding.uid,
      fieldPath: regarding.fieldPath,
    },
  };
};
