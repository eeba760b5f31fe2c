import { createHash } from 'node:crypto';
import type { Alert, AlertGroup, Subject } from '../domain/alert.ts';
import type { Severity } from '../domain/incident.ts';
import { workloadOfJobName, workloadOfPodName } from '../domain/workload-name.ts';
import type { CorrelatedAlert, IncomingNotification } from '../incidents/ports.ts';
import { type ClusterNaming, canonicalCluster, resolveCluster } from './cluster.ts';
import { resolveSubject } from './subject.ts';

/** Alerts that are symptoms of one condition of one subject; the others are families of their own. */
const families: [string, RegExp][] = [
  ['workload', /^Kube(Pod(CrashLooping|NotReady)|ContainerWaiting|(Deployment|StatefulSet|DaemonSet)[A-Z]\w*)$/],
  ['job', /^KubeJob(Failed|NotCompleted|Completion)$/],
  ['node', /^Kube(Node(NotReady|Unreachable|ReadinessFlapping)|letInstanceUnreachable)$/],
  ['volume-space', /^KubePersistentVolume(Inodes)?FillingUp$/],
  ['node-filesystem', /^NodeFilesystem[A-Z]\w*$/],
  ['quota', /^KubeQuota[A-Z]\w*$/],
  ['api-server', /^KubeAPI(ErrorBudgetBurn|Down|InstanceUnreachable|TerminatedRequests|LatencyHigh|ErrorsHigh)$/],
  ['control-plane-target', /^Kube(Scheduler|ControllerManager)(Down|InstanceUnreachable)$/],
  ['etcd', /^etcd[A-Z]\w*$/],
];

const familyOf = (alertname: string): string =>
  families.find(([, pattern]) => pattern.test(alertname))?.[0] ?? `alert:${alertname}`;

const workloads = new Set(['Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob']);

/** The subject at workload level: a pod, its Deployment and that Deployment's other pods are one. */
const workloadKey = ({ kind, name = '', namespace = '' }: Subject): string => {
  if (!workloads.has(kind)) return `${kind}/${namespace}/${name}`;
  const workload = kind === 'Pod' ? workloadOfPodName(name) : kind === 'Job' ? workloadOfJobName(name) : name;
  return `workload/${namespace}/${workload}`;
};

/**
 * hash(cluster, family of the alert name, subject at workload level). It comes from labels alone, without a cluster
 * call, and leaves out what differs between re-sends and siblings: status, times, severity, pod suffix, container,
 * instance. Two keys may still be one incident; merging them is for those who have seen the cluster.
 */
const correlationKey = (labels: Record<string, string>, subject: Subject): string =>
  createHash('sha256')
    .update(JSON.stringify([subject.cluster, familyOf(labels.alertname ?? ''), workloadKey(subject)]))
    .digest('hex')
    .slice(0, 32);

const severities: [Severity, RegExp][] = [
  ['critical', /^(critical|crit|page|emergency|fatal|disaster|high|error|sev-?[01]|p[01])$/i],
  ['info', /^(info|information|informational|notice|low|debug|sev-?[45]|p[45])$/i],
  ['none', /^none$/i],
];

/** What is not known to be louder or quieter is a warning. */
const severityOf = (labels: Record<string, string>): Severity =>
  severities.find(([, pattern]) => pattern.test(labels.severity ?? labels.priority ?? labels.level ?? ''))?.[0] ??
  'warning';

const heartbeatNames = /^(Watchdog|InfoInhibitor)$/;
const deadMansSwitch = /^(dead-?mans?-?s?-?switch|\w*heartbeat)$/i;

/** Alerts that fire by design: kube-prometheus' own, and dead man's switches that call themselves severity none. */
const isHeartbeat = (labels: Record<string, string>): boolean => {
  const name = labels.alertname ?? '';
  return heartbeatNames.test(name) || (deadMansSwitch.test(name) && severityOf(labels) === 'none');
};

export const correlateAlert = (alert: Alert, cluster: string): CorrelatedAlert => {
  const subject = resolveSubject(alert.labels, cluster);
  return {
    alert,
    cluster,
    correlationKey: correlationKey(alert.labels, subject),
    subject,
    severity: severityOf(alert.labels),
    heartbeat: isHeartbeat(alert.labels),
  };
};

export interface CorrelationContext {
  naming: ClusterNaming;
  /** ISO 8601. */
  receivedAt: string;
  /** Who sent it, and the clusters it may speak for; null: all. */
  sender: { name: string; clusters: string[] | null };
  /** Reasons of alerts that the parser set aside. */
  rejected: string[];
}

/** Adds to every alert what its labels tell. Alerts for clusters the sender may not speak for are set aside. */
export const correlate = (group: AlertGroup, context: CorrelationContext): IncomingNotification => {
  const { naming, receivedAt, sender } = context;
  const mayName = sender.clusters?.map((name) => canonicalCluster(name, naming)) ?? null;
  const rejected = [...context.rejected];
  const alerts: CorrelatedAlert[] = [];
  for (const alert of group.alerts) {
    const cluster = resolveCluster(alert.labels, naming, mayName);
    if (mayName && !mayName.includes(cluster)) {
      const name = alert.labels.alertname ?? 'an alert';
      rejected.push(
        `${name} is for cluster ${cluster}, and the token ${sender.name} is for ${mayName.join(', ')} only`,
      );
    } else alerts.push(correlateAlert(alert, cluster));
  }
  const { alerts: _, groupKey, receiver, externalURL, truncatedAlerts, ...rest } = group;
  return { receivedAt, receiver, groupKey, externalURL, truncatedAlerts, group: rest, alerts, rejected };
};
