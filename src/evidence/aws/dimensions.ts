import type { CloudResources } from '../../triage/ports.ts';

type Dimensions = Record<string, string>;

/** One thing that is measured, and the metrics that exist of it where they are not all of the namespace's. */
export interface Measured {
  dimensions: Dimensions;
  metrics?: RegExp;
}

interface Sources {
  clusterName: string;
  touched(): Promise<CloudResources>;
  ask(call: string): Promise<any>;
}

/** Things measured of one kind: with a dozen metrics each they must fit into one batch. */
const maxThings = 20;

/** What is measured in each namespace: of the cluster, its instances, its ways out, and what it stands behind. */
const namespaces: Record<string, (sources: Sources) => Promise<Measured[]>> = {
  'AWS/EC2': async ({ touched }) => one('InstanceId', (await touched()).instanceIds),
  'AWS/EBS': async ({ touched }) => one('VolumeId', (await touched()).volumeIds),
  'AWS/EKS': async ({ clusterName }) => one('ClusterName', [clusterName]),
  'AWS/NATGateway': async ({ ask }) =>
    one(
      'NatGatewayId',
      ((await ask('ec2.describeNatGateways'))?.NatGateways ?? [])
        .filter((gateway: any) => gateway.State !== 'deleted')
        .map((gateway: any) => gateway.NatGatewayId),
    ),
  'AWS/NetworkELB': (sources) => loadBalancers(sources, 'network'),
  'AWS/ApplicationELB': (sources) => loadBalancers(sources, 'application'),
  'AWS/SQS': async ({ touched }) => one('QueueName', (await touched()).queues),
  'AWS/AmazonMQ': async ({ ask }) =>
    one(
      'Broker',
      ((await ask('mq.listBrokers'))?.BrokerSummaries ?? []).map((broker: any) => broker.BrokerName),
    ),
  'AWS/RDS': async ({ ask }) =>
    one(
      'DBInstanceIdentifier',
      ((await ask('rds.describeDBInstances'))?.DBInstances ?? []).map((instance: any) => instance.DBInstanceIdentifier),
    ),
};

export const dimensionsOf = async (wanted: string[], sources: Sources): Promise<Record<string, Measured[]>> =>
  Object.fromEntries(
    await Promise.all(
      wanted.map(async (namespace) => [namespace, (await namespaces[namespace]?.(sources)) ?? []] as const),
    ),
  );

const one = (name: string, values: string[]): Measured[] =>
  values.slice(0, maxThings).map((value) => ({ dimensions: { [name]: value } }));

/** Metrics that exist by target group. */
const ofTargets = /HostCount$/;
const ofBalancer = /^(?!.*HostCount$)/;

/** Zone by zone, since a sick zone drowns in the sum of all. */
const loadBalancers = async ({ ask }: Sources, type: string): Promise<Measured[]> => {
  const balancers: any[] = ((await ask('elbv2.describeLoadBalancers'))?.LoadBalancers ?? []).filter(
    (balancer: any) => balancer.Type === type,
  );
  const groups: any[] = balancers.length > 0 ? ((await ask('elbv2.describeTargetGroups'))?.TargetGroups ?? []) : [];
  return balancers
    .flatMap((balancer) => {
      const LoadBalancer = idOf(balancer.LoadBalancerArn, /loadbalancer\/(.+)$/);
      const own = groups.filter((group) => (group.LoadBalancerArns ?? []).includes(balancer.LoadBalancerArn));
      return (balancer.AvailabilityZones ?? []).flatMap(({ ZoneName }: any): Measured[] => [
        { dimensions: { LoadBalancer, AvailabilityZone: ZoneName }, metrics: ofBalancer },
        ...own.map((group) => ({
          dimensions: {
            LoadBalancer,
            TargetGroup: idOf(group.TargetGroupArn, /(targetgroup\/.+)$/),
            AvailabilityZone: ZoneName,
          },
          metrics: ofTargets,
        })),
      ]);
    })
    .slice(0, 2 * maxThings);
};

const idOf = (arn: string, pattern: RegExp): string => pattern.exec(arn)?.[1] ?? arn;
