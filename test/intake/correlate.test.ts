import { describe, expect, it } from 'vitest';
import type { Alert, AlertGroup } from '../../src/domain/alert.ts';
import { type CorrelationContext, correlate } from '../../src/intake/correlate.ts';

const naming: CorrelationContext['naming'] = {
  clusterLabels: ['cluster', 'k8s_cluster_name'],
  defaultCluster: undefined,
  clusters: [
    { name: 'eu', aliases: ['eks-eu'] },
    { name: 'us', aliases: [] },
  ],
};

const alert = (labels: Record<string, string>, change: Partial<Alert> = {}): Alert => ({
  status: 'firing',
  labels: { alertname: 'A', ...labels },
  annotations: {},
  startsAt: '2026-11-20T08:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: JSON.stringify(labels),
  ...change,
});
const group = (alerts: Alert[]): AlertGroup => ({
  version: '4',
  groupKey: 'k',
  truncatedAlerts: 2,
  status: 'firing',
  receiver: 'r',
  groupLabels: { alertname: 'A' },
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://am',
  alerts,
});
const run = (alerts: Alert[], change: Partial<CorrelationContext> = {}) =>
  correlate(group(alerts), {
    naming,
    receivedAt: '2026-11-20T08:01:00Z',
    sender: { name: 'am', clusters: null },
    rejected: [],
    ...change,
  });
const key = (labels: Record<string, string>, change?: Partial<Alert>) =>
  run([alert(labels, change)]).alerts[0]?.correlationKey;

const ksm = { cluster: 'eu', namespace: 'shop', job: 'kube-state-metrics', instance: '10.0.0.1:8443' };
const crash = { ...ksm, alertname: 'KubePodCrashLooping', container: 'web', severity: 'warning' };

describe('the correlation key', () => {
  it.each([
    ['a re-send', crash, crash],
    ['its resolve', crash, crash, { status: 'resolved' as const, endsAt: '2026-11-20T09:00:00Z' }],
    ['a later firing', crash, crash, { startsAt: '2026-11-20T20:00:00Z', fingerprint: 'other' }],
    ['another instance of the exporter', crash, { ...crash, instance: '10.0.0.2:8443' }],
    ['the same at another severity', crash, { ...crash, severity: 'critical' }],
    ['an alias of the cluster', crash, { ...crash, cluster: 'eks-eu' }],
  ])('is the same for %s', (_, one, other, change: Partial<Alert> = {}) => {
    expect(key({ ...other, pod: 'web-7c4f8d9b6c-x2x4z' }, change)).toBe(key({ ...one, pod: 'web-7c4f8d9b6c-x2x4z' }));
  });

  it.each([
    ['pods of one Deployment', 'web-7c4f8d9b6c-x2x4z', 'web-9qht4zjhf-lxd7j'],
    ['pods of one StatefulSet', 'db-0', 'db-11'],
    ['pods of one DaemonSet', 'agent-4x9wz', 'agent-bcdfg'],
    ['runs of one CronJob', 'sum-29394480-tpdbr', 'sum-29394540-x2x4z'],
  ])('is the same for %s', (_, one, other) => {
    expect(key({ ...crash, pod: one })).toBe(key({ ...crash, pod: other }));
  });

  it('is the same for a workload and its pods, whatever symptom is told', () => {
    const pod = key({ ...crash, pod: 'web-7c4f8d9b6c-x2x4z' });
    expect(key({ ...ksm, alertname: 'KubeDeploymentReplicasMismatch', deployment: 'web' })).toBe(pod);
    expect(key({ ...ksm, alertname: 'KubeDeploymentRolloutStuck', deployment: 'web' })).toBe(pod);
    const job = key({ ...ksm, alertname: 'KubeJobFailed', job_name: 'sum-29390160' });
    expect(key({ ...ksm, alertname: 'KubeJobNotCompleted', job_name: 'sum-29390220' })).toBe(job);
  });

  it('is the same for the states of one node and for the windows of one error budget', () => {
    const node = { cluster: 'eu', job: 'kube-state-metrics', node: 'n1' };
    expect(key({ ...node, alertname: 'KubeNodeNotReady' })).toBe(key({ ...node, alertname: 'KubeNodeUnreachable' }));
    const burn = { cluster: 'eu', alertname: 'KubeAPIErrorBudgetBurn' };
    expect(key({ ...burn, long: '1h', short: '5m' })).toBe(key({ ...burn, long: '6h', short: '30m' }));
  });

  it.each([
    ['workloads', { ...crash, pod: 'web-7c4f8d9b6c-x2x4z' }, { ...crash, pod: 'api-7c4f8d9b6c-x2x4z' }],
    ['namespaces', { ...crash, pod: 'web-0' }, { ...crash, pod: 'web-0', namespace: 'other' }],
    ['clusters', { ...crash, pod: 'web-0' }, { ...crash, pod: 'web-0', cluster: 'us' }],
    ['nodes', { alertname: 'KubeNodeNotReady', node: 'n1' }, { alertname: 'KubeNodeNotReady', node: 'n2' }],
    ['custom alerts', { alertname: 'LatencyHigh', namespace: 'a' }, { alertname: 'ErrorsHigh', namespace: 'a' }],
    ['bare pods', { ...crash, pod: 'run-4b5d8104' }, { ...crash, pod: 'run-5b5d8104' }],
  ])('differs between %s', (_, one: Record<string, string>, other: Record<string, string>) => {
    expect(key(one)).not.toBe(key(other));
  });

  it('does not depend on the order of labels or on neighbours in the body', () => {
    const one = { ...crash, pod: 'web-0' };
    const reversed = Object.fromEntries(Object.entries(one).reverse());
    const among = run([alert({ alertname: 'B', node: 'n' }), alert(reversed)]).alerts[1];
    expect(among?.correlationKey).toBe(key(one));
  });
});

describe('the cluster', () => {
  const clusterOf = (labels: Record<string, string>, change: Partial<CorrelationContext> = {}) =>
    run([alert(labels)], change).alerts[0]?.cluster;
  it.each([
    ['is the label', { cluster: 'us' }, {}, 'us'],
    ['is the name behind an alias', { cluster: 'eks-eu' }, {}, 'eu'],
    ['is a name nobody configured', { cluster: 'mars' }, {}, 'mars'],
    ['comes from the next label where the first is empty', { cluster: '', k8s_cluster_name: 'us' }, {}, 'us'],
    ['is the default without a label', {}, { naming: { ...naming, defaultCluster: 'us' } }, 'us'],
    ['is the only one there is', {}, { naming: { ...naming, clusters: [{ name: 'solo', aliases: [] }] } }, 'solo'],
    [
      "is the sender's own before the default",
      {},
      { sender: { name: 'am', clusters: ['eks-eu'] }, naming: { ...naming, defaultCluster: 'us' } },
      'eu',
    ],
    ['is said to be unnamed where nothing tells', {}, {}, 'unnamed'],
  ])('%s', (_, labels: Record<string, string>, change: Partial<CorrelationContext>, expected) => {
    expect(clusterOf(labels, change)).toBe(expected);
  });

  it('is no business of a token bound to another: that alert is set aside, the rest proceeds', () => {
    const alerts = [alert({ cluster: 'us' }), alert({ cluster: 'eu' })];
    const notification = run(alerts, { sender: { name: 'am-eu', clusters: ['eu'] }, rejected: ['before'] });
    expect(notification.alerts.map(({ cluster }) => cluster)).toEqual(['eu']);
    expect(notification.rejected).toEqual(['before', 'A is for cluster us, and the token am-eu is for eu only']);
  });
});

describe('correlate', () => {
  it('keeps what the body says of the group', () => {
    expect(run([])).toMatchObject({
      receivedAt: '2026-11-20T08:01:00Z',
      receiver: 'r',
      groupKey: 'k',
      externalURL: 'http://am',
      truncatedAlerts: 2,
      group: { version: '4', status: 'firing', groupLabels: { alertname: 'A' } },
    });
  });

  it.each([
    [{ severity: 'critical' }, 'critical'],
    [{ severity: 'page' }, 'critical'],
    [{ severity: 'Warning' }, 'warning'],
    [{ severity: 'info' }, 'info'],
    [{ severity: 'none' }, 'none'],
    [{ priority: 'P1' }, 'critical'],
    [{ severity: 'odd' }, 'warning'],
    [{}, 'warning'],
  ])('reads the severity of %o as %s', (labels: Record<string, string>, expected) => {
    expect(run([alert(labels)]).alerts[0]?.severity).toBe(expected);
  });

  it.each([
    ['Watchdog', 'none', true],
    ['InfoInhibitor', 'none', true],
    ['DeadMansSwitch', 'none', true],
    ['DeadMansSwitch', 'critical', false],
    ['KubePodNotReady', 'none', false],
  ])('%s of severity %s is a heartbeat: %s', (alertname, severity, expected) => {
    expect(run([alert({ alertname, severity })]).alerts[0]?.heartbeat).toBe(expected);
  });
});
