import type { ClusterIdentity } from '../../domain/facts.ts';
import { toMs } from '../../facts/time.ts';
import { resources } from '../resources.ts';
import { cloudQuestion } from './cloud-question.ts';
import { type Collection, historyHours } from './collection.ts';
import { unreadCloud } from './other-clouds.ts';
import { type Candidate, followPlan, type Plan } from './plan.ts';

/** Read-only calls that say something about an incident, by service. */
export const awsCalls = [
  'health.describeEvents',
  'health.describeEventDetails',
  'health.describeAffectedEntities',
  'eks.describeCluster',
  'eks.listUpdates',
  'eks.describeUpdate',
  'eks.describeNodegroup',
  'eks.describeAddon',
  'eks.describeFargateProfile',
  'eks.listAccessEntries',
  'eks.describeAccessEntry',
  'eks.listAssociatedAccessPolicies',
  'eks.listInsights',
  'ec2.describeInstanceStatus',
  'ec2.describeInstances',
  'ec2.describeSubnets',
  'ec2.describeRouteTables',
  'ec2.describeVpcEndpoints',
  'ec2.describeNatGateways',
  'ec2.describeVolumes',
  'ec2.describeSecurityGroups',
  'ec2.describeNetworkInterfaces',
  'ec2.describeSpotInstanceRequests',
  'ec2.describeLaunchTemplateVersions',
  'ec2.describeImages',
  'autoscaling.describeAutoScalingGroups',
  'autoscaling.describeScalingActivities',
  'cloudtrail.lookupEvents',
  'iam.getRole',
  'servicequotas.listServiceQuotas',
  'servicequotas.getServiceQuota',
  'events.listRules',
  'sqs.listQueues',
  'sqs.getQueueAttributes',
  'mq.listBrokers',
  'mq.describeBroker',
  'rds.describeDBInstances',
  'elbv2.describeTargetHealth',
  'ecr.describeImages',
  'arc-zonal-shift.listAutoshifts',
  'arc-zonal-shift.listZonalShifts',
];

const cloudWatchMetrics: [string, string][] = [
  ...[
    'StatusCheckFailed',
    'StatusCheckFailed_System',
    'StatusCheckFailed_Instance',
    'StatusCheckFailed_AttachedEBS',
  ].map((metric): [string, string] => ['AWS/EC2', metric]),
  ...[
    'TCP_ELB_Reset_Count',
    'TCP_Target_Reset_Count',
    'NewFlowCount',
    'HealthyHostCount',
    'UnHealthyHostCount',
    'PortAllocationErrorCount',
  ].map((metric): [string, string] => ['AWS/NetworkELB', metric]),
  ...[
    'HTTPCode_ELB_5XX_Count',
    'HTTPCode_ELB_502_Count',
    'HTTPCode_ELB_503_Count',
    'HTTPCode_ELB_504_Count',
    'HTTPCode_Target_5XX_Count',
    'TargetConnectionErrorCount',
    'TargetResponseTime',
    'HealthyHostCount',
    'UnHealthyHostCount',
    'RejectedConnectionCount',
  ].map((metric): [string, string] => ['AWS/ApplicationELB', metric]),
  ...[
    'ErrorPortAllocation',
    'PacketsDropCount',
    'ActiveConnectionCount',
    'BytesOutToDestination',
    'BytesInFromDestination',
    'ConnectionAttemptCount',
    'ConnectionEstablishedCount',
  ].map((metric): [string, string] => ['AWS/NATGateway', metric]),
  ...[
    'VolumeStalledIOCheck',
    'VolumeIOPSExceededCheck',
    'VolumeThroughputExceededCheck',
    'BurstBalance',
    'VolumeQueueLength',
  ].map((metric): [string, string] => ['AWS/EBS', metric]),
  ...[
    'apiserver_request_total_5XX',
    'apiserver_request_total_429',
    'apiserver_storage_size_bytes',
    'etcd_mvcc_db_total_size_in_use_in_bytes',
    'scheduler_pending_pods_UNSCHEDULABLE',
  ].map((metric): [string, string] => ['AWS/EKS', metric]),
  ...[
    'NumberOfMessagesSent',
    'NumberOfMessagesReceived',
    'ApproximateAgeOfOldestMessage',
    'ApproximateNumberOfMessagesVisible',
  ].map((metric): [string, string] => ['AWS/SQS', metric]),
  ...[
    'CpuUtilization',
    'HeapUsage',
    'RabbitMQMemUsed',
    'RabbitMQMemLimit',
    'RabbitMQDiskFree',
    'MessageCount',
    'ConsumerCount',
    'ConnectionCount',
    'CurrentConnectionsCount',
  ].map((metric): [string, string] => ['AWS/AmazonMQ', metric]),
  ...['CPUUtilization', 'DatabaseConnections', 'FreeStorageSpace', 'FreeableMemory'].map((metric): [string, string] => [
    'AWS/RDS',
    metric,
  ]),
];

/** The control plane's own metrics; recording rules of the usual mixins are read by their names too. */
const controlPlaneMetrics = [
  'apiserver_request_total',
  'apiserver_request_total:rate5m',
  'apiserver_request_duration_seconds:p99',
  'apiserver_request_terminations_total',
  'apiserver_storage_size_bytes',
  'apiserver_storage_objects',
  'apiserver_resource_objects',
  'apiserver_flowcontrol_rejected_requests_total',
  'apiserver_flowcontrol_current_inqueue_requests',
  'apiserver_admission_webhook_rejection_count',
  'apiserver_admission_webhook_admission_duration_seconds:p99',
  'etcd_request_duration_seconds:p99',
  'etcd_db_total_size_in_bytes',
  'etcd_server_has_leader',
  'etcd_server_leader_changes_seen_total',
  'etcd_mvcc_db_total_size_in_bytes',
  'etcd_disk_wal_fsync_duration_seconds:p99',
  'rest_client_requests_total',
  'up',
];

const isAws = ({ provider }: ClusterIdentity): boolean => provider.startsWith('eks') || provider === 'self';

const candidates: Candidate[] = [
  { resource: resources.leases, wave: 1, where: () => [{ namespace: 'kube-system' }], worth: () => 100 },
];

const plan: Plan = { candidates, logs: () => [], maxLogs: 0, keptForNeeds: 0, keptForLogs: () => 0 };

/** Layer 1: the API server's own health, its leases and metrics, and the vendor's APIs. */
export const collectCloud = async (collection: Collection): Promise<void> => {
  const end = toMs(collection.facts.readAt) / 1000;
  const start = end - historyHours * 3600;
  const question = cloudQuestion(collection);
  const aws = isAws(collection.target.cluster);
  collection.facts.reads.push(...unreadCloud(collection.target.cluster.provider));
  await Promise.all([
    readHealth(collection),
    followPlan(collection, plan),
    ...controlPlaneMetrics.map((name) => collection.metric(name)),
    ...(aws ? awsCalls.map((call) => collection.cloud(call, question)) : []),
    ...(aws
      ? [
          collection.cloudMetrics(
            cloudWatchMetrics.map(([namespace, metric]) => ({ namespace, metric, start, end })),
            question,
          ),
        ]
      : []),
  ]);
};

/** A server that is ready is alive too; `livez` is of use where it is not, or did not say. */
const readHealth = async (collection: Collection): Promise<void> => {
  await collection.probe('readyz');
  const isReady = collection.facts.probes.some(({ status }) => status === 200);
  if (!isReady || collection.callsLeft === Infinity) await collection.probe('livez');
};
