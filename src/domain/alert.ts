/** One alert of an Alertmanager webhook body (version 4), all fields kept. */
export interface Alert {
  status: 'firing' | 'resolved';
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  /** `0001-01-01T00:00:00Z` while firing. */
  endsAt: string;
  generatorURL?: string;
  fingerprint: string;
}

/** The webhook body. `truncatedAlerts` is the number Alertmanager cut by `max_alerts`. */
export interface AlertGroup {
  version: '4';
  groupKey: string;
  truncatedAlerts: number;
  status: 'firing' | 'resolved';
  receiver: string;
  groupLabels: Record<string, string>;
  commonLabels: Record<string, string>;
  commonAnnotations: Record<string, string>;
  externalURL: string;
  alerts: Alert[];
}

/** What an alert is about. Without a name it is as wide as `kind` says: a namespace or the whole cluster. */
export interface Subject {
  cluster: string;
  /** A Kubernetes kind (`Pod`, `Deployment`, `Node`, `NodePool` …), `Namespace` or `Cluster`. */
  kind: string;
  name?: string;
  namespace?: string;
  container?: string;
}

export const describeSubject = (subject: Subject): string => {
  if (subject.kind === 'Cluster') return `cluster ${subject.cluster}`;
  const name = subject.name ?? '';
  return subject.namespace && subject.kind !== 'Namespace'
    ? `${subject.kind} ${subject.namespace}/${name}`
    : `${subject.kind} ${name}`;
};
