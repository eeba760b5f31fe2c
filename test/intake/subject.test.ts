import { describe, expect, it } from 'vitest';
import { describeSubject } from '../../src/domain/alert.ts';
import { resolveSubject } from '../../src/intake/subject.ts';

/** Labels that a ServiceMonitor's target adds to all that kube-state-metrics measures. */
const ksm = {
  job: 'kube-state-metrics',
  instance: '10.0.66.17:8443',
  endpoint: 'https-main',
  container: 'kube-rbac-proxy-main',
  service: 'kube-state-metrics',
};
/** The same of a Helm install, which also leaves the exporter's pod and namespace on series that have none. */
const helmKsm = {
  job: 'kube-state-metrics',
  namespace: 'monitoring',
  pod: 'kps-kube-state-metrics-7c4f8d9b6c-x2x4z',
  container: 'kube-state-metrics',
  service: 'kps-kube-state-metrics',
  instance: '10.0.1.9:8080',
};
const nodeExporter = {
  job: 'node-exporter',
  namespace: 'monitoring',
  pod: 'node-exporter-4x9wz',
  container: 'kube-rbac-proxy',
  service: 'node-exporter',
  endpoint: 'https',
};
const karpenter = {
  job: 'karpenter',
  namespace: 'kube-system',
  service: 'karpenter',
  pod: 'karpenter-6b9f7d5c4-2wq8z',
};

const shown = (alertname: string, labels: Record<string, string>): string => {
  const subject = resolveSubject({ alertname, ...labels }, 'c');
  return describeSubject(subject) + (subject.container ? ` ${subject.container}` : '');
};

type Row = [string, Record<string, string>, string];

const conventions: Row[] = [
  ['KubePodCrashLooping', { ...ksm, namespace: 'a', pod: 'web-1', container: 'web', uid: 'u' }, 'Pod a/web-1 web'],
  ['KubePodNotReady', { job: 'kube-state-metrics', namespace: 'a', pod: 'web-1' }, 'Pod a/web-1'],
  ['KubeContainerWaiting', { ...ksm, namespace: 'a', pod: 'web-1', container: 'init' }, 'Pod a/web-1 init'],
  [
    'CPUThrottlingHigh',
    { namespace: 'a', pod: 'web-1', container: 'web', instance: '10.0.2.1:10250' },
    'Pod a/web-1 web',
  ],
  ['KubeDeploymentReplicasMismatch', { ...ksm, namespace: 'a', deployment: 'web' }, 'Deployment a/web'],
  ['KubeDeploymentRolloutStuck', { ...helmKsm, namespace: 'a', deployment: 'web' }, 'Deployment a/web'],
  ['KubeStatefulSetReplicasMismatch', { ...ksm, namespace: 'a', statefulset: 'db' }, 'StatefulSet a/db'],
  ['KubeDaemonSetRolloutStuck', { ...ksm, namespace: 'kube-system', daemonset: 'cni' }, 'DaemonSet kube-system/cni'],
  ['KubeJobFailed', { ...ksm, namespace: 'a', job_name: 'sum-29390160', condition: 'true' }, 'Job a/sum-29390160'],
  ['CronJobSuspended', { ...ksm, namespace: 'a', cronjob: 'sum' }, 'CronJob a/sum'],
  ['KubeHpaMaxedOut', { ...ksm, namespace: 'a', horizontalpodautoscaler: 'web' }, 'HorizontalPodAutoscaler a/web'],
  ['KubePdbNotEnoughHealthyPods', { ...ksm, namespace: 'a', poddisruptionbudget: 'web' }, 'PodDisruptionBudget a/web'],
  ['KubeQuotaExceeded', { ...ksm, namespace: 'a', resourcequota: 'q', resource: 'pods' }, 'ResourceQuota a/q'],
  [
    'KubePersistentVolumeFillingUp',
    {
      job: 'kubelet',
      namespace: 'a',
      persistentvolumeclaim: 'data',
      node: 'n1',
      instance: '10.0.0.1:10250',
      service: 'kubelet',
    },
    'PersistentVolumeClaim a/data',
  ],
  ['KubePersistentVolumeErrors', { ...helmKsm, persistentvolume: 'pvc-1', phase: 'Failed' }, 'PersistentVolume pvc-1'],
  ['KubeNodeNotReady', { ...ksm, node: 'n1', condition: 'Ready' }, 'Node n1'],
  ['KubeNodeUnreachable', { ...helmKsm, node: 'n1', key: 'node.kubernetes.io/unreachable' }, 'Node n1'],
  ['KubeletPlegDurationHigh', { node: 'n1', instance: '10.0.2.25:10250', quantile: '0.99' }, 'Node n1'],
  ['KubeletTooManyPods', { job: 'kubelet', namespace: 'kube-system', service: 'kubelet', node: 'n1' }, 'Node n1'],
  [
    'NodeFilesystemAlmostOutOfSpace',
    { ...nodeExporter, instance: 'ip-10-0-1-2.ec2.internal', device: '/dev/nvme0n1' },
    'Node ip-10-0-1-2.ec2.internal',
  ],
  ['NodeClockSkewDetected', { ...nodeExporter, instance: '10.0.1.2:9100' }, 'Node 10.0.1.2'],
  ['KarpenterNodepoolNearCapacity', { ...karpenter, nodepool: 'ci', resource_type: 'cpu' }, 'NodePool ci'],
  ['KarpenterCloudProviderErrors', { ...karpenter, provider: 'aws', method: 'Create' }, 'cluster c'],
  [
    'ClusterAutoscalerNodeGroupAtCapacity',
    { namespace: 'kube-system', job: 'cluster-autoscaler', node_group: 'g' },
    'cluster c',
  ],
  [
    'KedaScaledObjectErrors',
    { job: 'keda-operator', namespace: 'keda', exported_namespace: 'a', scaledObject: 'web' },
    'ScaledObject a/web',
  ],
  ['KubeAPIErrorBudgetBurn', { long: '1h', short: '5m' }, 'cluster c'],
  [
    'KubeAPIInstanceUnreachable',
    { job: 'apiserver', namespace: 'default', service: 'kubernetes', endpoint: 'https', instance: '10.0.0.2:443' },
    'cluster c',
  ],
  ['KubeSchedulerDown', { job: 'kube-scheduler' }, 'cluster c'],
  ['etcdMembersDown', { job: 'etcd' }, 'cluster c'],
  [
    'etcdHighFsyncDurations',
    { job: 'kube-etcd', namespace: 'kube-system', pod: 'etcd-cp-a', instance: '10.0.0.2:2381' },
    'cluster c',
  ],
  [
    'KubeAggregatedAPIDown',
    { name: 'v1beta1.metrics.k8s.io', namespace: 'default' },
    'APIService v1beta1.metrics.k8s.io',
  ],
  ['KubeCPUOvercommit', { cluster: 'x' }, 'cluster c'],
  [
    'TargetDown',
    { job: 'prometheus-main', namespace: 'monitoring', service: 'prometheus-main' },
    'Service monitoring/prometheus-main',
  ],
  ['Watchdog', { severity: 'none' }, 'cluster c'],
  ['InfoInhibitor', { namespace: 'labs', alertstate: 'firing' }, 'Namespace labs'],
];

const lookAlikes: Row[] = [
  [
    'KubePodCrashLooping',
    { ...helmKsm, reason: 'CrashLoopBackOff' },
    'Pod monitoring/kps-kube-state-metrics-7c4f8d9b6c-x2x4z kube-state-metrics',
  ],
  [
    'KubePodNotReady',
    { job: 'kube-state-metrics', namespace: 'kube-system', pod: 'karpenter-6b9f7d5c4-2wq8z' },
    'Pod kube-system/karpenter-6b9f7d5c4-2wq8z',
  ],
  [
    'TargetDown',
    { job: 'node-exporter', namespace: 'monitoring', service: 'node-exporter' },
    'Service monitoring/node-exporter',
  ],
  [
    'TargetDown',
    { job: 'kube-state-metrics', namespace: 'monitoring', service: 'kps-kube-state-metrics' },
    'Service monitoring/kps-kube-state-metrics',
  ],
  ['TargetDown', { job: 'kubelet', namespace: 'kube-system', service: 'kubelet' }, 'cluster c'],
  ['TargetDown', { job: 'apiserver', namespace: 'default', service: 'kubernetes' }, 'cluster c'],
  ['KarpenterDown', { ...karpenter }, 'Pod kube-system/karpenter-6b9f7d5c4-2wq8z'],
  ['NodeDown', { ...nodeExporter, instance: 'n1:9100' }, 'Node n1'],
  ['CoreDNSDown', { namespace: 'kube-system', job: 'kube-dns' }, 'Service kube-system/kube-dns'],
  [
    'CoreDNSErrorsHigh',
    { namespace: 'kube-system', job: 'coredns', pod: 'coredns-5d4f-x', container: 'coredns' },
    'Pod kube-system/coredns-5d4f-x coredns',
  ],
  [
    'PrometheusRemoteStorageFailures',
    { namespace: 'monitoring', pod: 'prometheus-0', container: 'prometheus', job: 'prometheus' },
    'Pod monitoring/prometheus-0 prometheus',
  ],
  [
    'SchedulerLag',
    { job: 'airflow-scheduler', namespace: 'flows', pod: 'airflow-scheduler-0' },
    'Pod flows/airflow-scheduler-0',
  ],
  ['etcdNoLeader', { job: 'milvus-etcd', namespace: 'milvus', pod: 'milvus-etcd-0' }, 'Pod milvus/milvus-etcd-0'],
  [
    'GpuFault',
    {
      exported_namespace: 'ml',
      exported_pod: 'train-0',
      namespace: 'gpu-operator',
      pod: 'dcgm-x',
      container: 'dcgm',
      service: 'dcgm',
    },
    'Pod ml/train-0',
  ],
  ['KubeDeploymentReplicasMismatch', { ...helmKsm, exported_namespace: 'a', deployment: 'web' }, 'Deployment a/web'],
  ['KubeJobFailed', { ...helmKsm, exported_namespace: 'a', job_name: 'sum-1' }, 'Job a/sum-1'],
  [
    'BackupFailed',
    { exported_job: 'backup', namespace: 'push', pod: 'pushgateway-0', job: 'pushgateway' },
    'cluster c',
  ],
  [
    'IngressHigh5xx',
    { job: 'ingress-nginx', namespace: 'a', service: 'api', ingress: 'web', pod: 'ingress-nginx-controller-abc' },
    'Service a/api',
  ],
  [
    'IngressHigh5xx',
    { namespace: 'ingress-nginx', exported_namespace: 'a', exported_service: 'api', ingress: 'web' },
    'Service a/api',
  ],
  [
    'ProbeSlow',
    { job: 'blackbox', namespace: 'shop', service: 'storefront', target: 'https://shop.example.com' },
    'Service shop/storefront',
  ],
];

const custom: Row[] = [
  ['SessionStoreUnavailable', { namespace: 'sessions', team: 'sessions' }, 'Namespace sessions'],
  ['SessionStoreUnavailable', { namespace: 'sessions', service: 'store', team: 'sessions' }, 'Service sessions/store'],
  [
    'OrdersQueueLatencyHigh',
    { namespace: 'orders', service: 'orders-api', horizontalpodautoscaler: 'orders-api' },
    'HorizontalPodAutoscaler orders/orders-api',
  ],
  [
    'NodeCountGrowthAnomaly',
    { namespace: 'media', horizontalpodautoscaler: 'fanout', deployment: 'fanout' },
    'Deployment media/fanout',
  ],
  [
    'ContainerExitedNonZero',
    { namespace: 'w', pod: 'load-29394480-tpdbr', job_name: 'load-29394480' },
    'Pod w/load-29394480-tpdbr',
  ],
  ['NodeCPUCritical', { node: 'n1' }, 'Node n1'],
  ['NatGatewayTrafficWeekOverWeek', { nat_gateway_id: 'nat-0a1b', vpc: 'vpc-0' }, 'cluster c'],
  ['LatencyHigh', { k8s_namespace_name: 'a', k8s_deployment_name: 'web', k8s_node_name: 'n1' }, 'Deployment a/web'],
  ['LatencyHigh', { namespace: 'a', workload: 'web', workload_type: 'deployment' }, 'Deployment a/web'],
  ['PodOwned', { namespace: 'a', owner_kind: 'StatefulSet', owner_name: 'db' }, 'StatefulSet a/db'],
  ['MeshErrors', { destination_service_name: 'pay', destination_service_namespace: 'a' }, 'Service a/pay'],
  ['PodWithoutNamespace', { pod: 'web-1' }, 'cluster c'],
  ['HostHeader', { namespace: 'a', host: 'shop.example.com' }, 'Namespace a'],
  ['NoNameAtAll', { namespace: 'not a name!', pod: '<script>' }, 'cluster c'],
  ['BadPod', { namespace: 'a', pod: 'web 1\n' }, 'Namespace a'],
];

describe('resolveSubject', () => {
  it.each(conventions)('by convention: %s %o', (alertname, labels, expected) => {
    expect(shown(alertname, labels)).toBe(expected);
  });
  it.each(lookAlikes)('the exporter and what it measured: %s %o', (alertname, labels, expected) => {
    expect(shown(alertname, labels)).toBe(expected);
  });
  it.each(custom)("a team's own rule: %s %o", (alertname, labels, expected) => {
    expect(shown(alertname, labels)).toBe(expected);
  });

  it('gives a namespace as wide as it is, with its name in both places', () => {
    expect(resolveSubject({ namespace: 'a' }, 'c')).toEqual({
      cluster: 'c',
      kind: 'Namespace',
      name: 'a',
      namespace: 'a',
    });
  });
});
