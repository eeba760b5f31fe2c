import * as asg from '@aws-sdk/client-auto-scaling';
import * as cloudwatch from '@aws-sdk/client-cloudwatch';
import * as ec2 from '@aws-sdk/client-ec2';
import * as ecr from '@aws-sdk/client-ecr';
import * as eks from '@aws-sdk/client-eks';
import * as elb from '@aws-sdk/client-elastic-load-balancing-v2';
import * as events from '@aws-sdk/client-eventbridge';
import * as iam from '@aws-sdk/client-iam';
import * as mq from '@aws-sdk/client-mq';
import * as rds from '@aws-sdk/client-rds';
import * as sqs from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwsAccount, awsAccounts } from '../../../src/evidence/aws/account.ts';
import { awsReader } from '../../../src/evidence/aws/live.ts';
import type { CloudReader, CloudResources } from '../../../src/triage/ports.ts';
import { motoInstalled, type RunningMoto, startMoto } from '../../services/moto.ts';
import { questionAbout } from './question.ts';
import { ownKeys, withEnvironment } from './with-aws.ts';

const clusterName = 'prod-usw2';
const region = 'us-west-2';
const trustPolicy = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRoleWithWebIdentity' }],
};

describe.skipIf(!motoInstalled())('moto’s AWS', () => {
  let moto: RunningMoto;
  let made: Awaited<ReturnType<typeof makeCluster>>;

  beforeAll(async () => {
    moto = await startMoto();
    made = await withEnvironment(ownKeys, () => makeCluster({ region, endpoint: moto.url }));
  });
  afterAll(() => moto.stop());

  const read = (run: (cloud: CloudReader, account: AwsAccount) => Promise<void>): Promise<void> =>
    withEnvironment(ownKeys, async () => {
      const account = awsAccounts({ timeoutMs: 10_000, endpoint: moto.url }).account({ region });
      await run(awsReader(account, clusterName), account);
    });
  const question = () => questionAbout(made.touched);
  const answer = async (cloud: CloudReader, call: string): Promise<any> => {
    const found = await cloud.call(call, question());
    if (!found.ok) throw new Error(`${call}: ${JSON.stringify(found.gap)}`);
    return found.value.answer;
  };

  it('tells the state of the instances concerned, those that are gone too', () =>
    read(async (cloud) => {
      const { Reservations } = await answer(cloud, 'ec2.describeInstances');
      const states = Object.fromEntries(
        Reservations.flatMap((entry: any) => entry.Instances).map((one: any) => [one.InstanceId, one.State.Name]),
      );
      expect(states).toEqual({ [made.running]: 'running', [made.terminated]: 'terminated' });
      const { InstanceStatuses } = await answer(cloud, 'ec2.describeInstanceStatus');
      expect(InstanceStatuses.find((one: any) => one.InstanceId === made.running)).toMatchObject({
        InstanceState: { Name: 'running' },
        SystemStatus: { Status: 'ok', Details: [{ Name: 'reachability', Status: 'passed' }] },
        InstanceStatus: { Status: 'ok' },
      });
      expect(InstanceStatuses.map((one: any) => one.InstanceId)).not.toContain(made.stranger);
    }));

  it('finds the cluster’s instances by their tag where no node could be read', () =>
    read(async (cloud) => {
      const found: any = await cloud.call('ec2.describeInstances', questionAbout());
      const ids = found.value.answer.Reservations.flatMap((entry: any) => entry.Instances).map(
        (i: any) => i.InstanceId,
      );
      expect(ids.sort()).toEqual([made.running, made.terminated].sort());
    }));

  it('tells the network of the cluster and of no other', () =>
    read(async (cloud) => {
      const { Subnets } = await answer(cloud, 'ec2.describeSubnets');
      expect(Subnets).toMatchObject([{ SubnetId: made.subnet, AvailableIpAddressCount: expect.any(Number) }]);
      const { RouteTables } = await answer(cloud, 'ec2.describeRouteTables');
      expect(RouteTables).toHaveLength(1);
      expect(RouteTables[0]).toMatchObject({ VpcId: made.vpc, Associations: [{ Main: true }] });
      const { NatGateways } = await answer(cloud, 'ec2.describeNatGateways');
      expect(NatGateways).toMatchObject([{ NatGatewayId: made.natGateway, State: 'available' }]);
      const { VpcEndpoints } = await answer(cloud, 'ec2.describeVpcEndpoints');
      expect(VpcEndpoints).toMatchObject([{ ServiceName: `com.amazonaws.${region}.s3` }]);
      const { NetworkInterfaces } = await answer(cloud, 'ec2.describeNetworkInterfaces');
      expect(NetworkInterfaces.map((one: any) => one.Attachment.InstanceId)).toContain(made.running);
      expect(NetworkInterfaces.map((one: any) => one.Attachment.InstanceId)).not.toContain(made.stranger);
      const { SecurityGroups } = await answer(cloud, 'ec2.describeSecurityGroups');
      expect(SecurityGroups).toMatchObject([{ GroupId: made.touched.securityGroupIds![0] }]);
    }));

  it('tells volumes', () =>
    read(async (cloud) => {
      const { Volumes } = await answer(cloud, 'ec2.describeVolumes');
      expect(Volumes).toMatchObject([{ VolumeId: made.touched.volumeIds![0], State: 'available' }]);
    }));

  it('tells cluster, node group and Fargate profile of the namespace', () =>
    read(async (cloud) => {
      const { cluster } = await answer(cloud, 'eks.describeCluster');
      expect(cluster).toMatchObject({ name: clusterName, status: 'ACTIVE', createdAt: expect.stringMatching(/Z$/) });
      expect((await answer(cloud, 'eks.describeNodegroup')).nodegroup).toMatchObject({ nodegroupName: 'base' });
      expect((await answer(cloud, 'eks.describeFargateProfile')).fargateProfile).toMatchObject({
        fargateProfileName: 'batch',
        selectors: [{ namespace: 'risk-batch' }],
      });
    }));

  it('tells a role with its trust policy as JSON', () =>
    read(async (cloud) => {
      expect(await answer(cloud, 'iam.getRole')).toMatchObject({
        Role: { RoleName: 'ledger-writer', AssumeRolePolicyDocument: trustPolicy },
      });
    }));

  it('tells groups that lack instances and what they tried', () =>
    read(async (cloud) => {
      const { AutoScalingGroups } = await answer(cloud, 'autoscaling.describeAutoScalingGroups');
      expect(AutoScalingGroups).toMatchObject([{ AutoScalingGroupName: 'base', DesiredCapacity: 0 }]);
      expect(await cloud.call('autoscaling.describeScalingActivities', question())).toMatchObject({
        gap: { reason: 'not-found' },
      });
    }));

  it('tells queues, rules, brokers, databases', () =>
    read(async (cloud) => {
      expect((await answer(cloud, 'sqs.listQueues')).QueueUrls).toMatchObject([
        expect.stringMatching(/Karpenter-prod$/),
      ]);
      expect(await answer(cloud, 'sqs.getQueueAttributes')).toMatchObject({
        Attributes: { ApproximateNumberOfMessages: '0' },
      });
      expect((await answer(cloud, 'events.listRules')).Rules).toMatchObject([
        { Name: 'spot', State: 'ENABLED', EventPattern: expect.stringContaining('Spot Instance Interruption Warning') },
      ]);
      expect((await answer(cloud, 'mq.listBrokers')).BrokerSummaries).toMatchObject([{ BrokerName: 'orders' }]);
      expect((await answer(cloud, 'rds.describeDBInstances')).DBInstances).toMatchObject([
        { DBInstanceIdentifier: 'ledger' },
      ]);
    }));

  it('tells the targets of the load balancers in front, and images', () =>
    read(async (cloud) => {
      expect(await answer(cloud, 'elbv2.describeTargetHealth')).toMatchObject({
        TargetHealthDescriptions: [{ Target: { Id: made.running }, TargetHealth: { State: expect.any(String) } }],
      });
      const gap = { reason: 'not-found' };
      expect(await cloud.call('ecr.describeImages', question())).toMatchObject({ ok: false, gap });
    }));

  it('measures what the incident touches, one request per resolution', () =>
    read(async (cloud) => {
      const end = made.measuredAt / 1000 + 60;
      const query = { start: end - 7 * 86_400, end };
      const metrics = await cloud.metrics(
        [
          { namespace: 'AWS/EC2', metric: 'StatusCheckFailed_System', ...query },
          { namespace: 'AWS/NATGateway', metric: 'BytesOutToDestination', ...query },
          { namespace: 'AWS/NetworkELB', metric: 'UnHealthyHostCount', ...query },
          { namespace: 'AWS/EBS', metric: 'BurstBalance', ...query },
        ],
        question(),
      );
      if (!metrics.ok) throw new Error(metrics.gap.message);
      const minute = new Date(Math.floor(made.measuredAt / 60_000) * 60_000).toISOString().replace('.000Z', 'Z');
      expect(metrics.value).toEqual([
        {
          namespace: 'AWS/NATGateway',
          metric: 'BytesOutToDestination',
          dimensions: { NatGatewayId: made.natGateway },
          stat: 'Sum',
          periodSeconds: 3600,
          points: [[expect.any(String), 4096]],
        },
        {
          namespace: 'AWS/EC2',
          metric: 'StatusCheckFailed_System',
          dimensions: { InstanceId: made.running },
          stat: 'Maximum',
          periodSeconds: 60,
          points: [[minute, 1]],
        },
        {
          namespace: 'AWS/NetworkELB',
          metric: 'UnHealthyHostCount',
          dimensions: {
            AvailabilityZone: `${region}a`,
            LoadBalancer: expect.stringMatching(/^\w+\/k8s-shop-web\//),
            TargetGroup: expect.stringMatching(/^targetgroup\/web\//),
          },
          stat: 'Maximum',
          periodSeconds: 60,
          points: [[minute, 2]],
        },
      ]);
    }));

  it('tells its own id', () =>
    read(async (_, account) => {
      expect(await account.id()).toBe('123456789012');
    }));
});

/** A small cluster with what it stands on, and an instance of somebody else. */
async function makeCluster(settings: { region: string; endpoint: string }) {
  const compute = new ec2.EC2Client(settings);
  const vpc = (await compute.send(new ec2.CreateVpcCommand({ CidrBlock: '10.0.0.0/16' }))).Vpc!.VpcId!;
  const AvailabilityZone = `${region}a`;
  const subnet = (
    await compute.send(new ec2.CreateSubnetCommand({ VpcId: vpc, CidrBlock: '10.0.1.0/24', AvailabilityZone }))
  ).Subnet!.SubnetId!;
  const tagged = [{ Key: `kubernetes.io/cluster/${clusterName}`, Value: 'owned' }];
  const start = async (Tags: ec2.Tag[]): Promise<ec2.Instance> => {
    const { Instances } = await compute.send(
      new ec2.RunInstancesCommand({
        ImageId: 'ami-12345678',
        MinCount: 1,
        MaxCount: 1,
        InstanceType: 'm6i.large',
        SubnetId: subnet,
        TagSpecifications: [{ ResourceType: 'instance', Tags }],
      }),
    );
    return Instances![0]!;
  };
  const [one, other, foreign] = [await start(tagged), await start(tagged), await start([{ Key: 'a', Value: 'b' }])];
  const [running, terminated, stranger] = [one.InstanceId!, other.InstanceId!, foreign.InstanceId!];
  await compute.send(new ec2.TerminateInstancesCommand({ InstanceIds: [terminated] }));
  const { NatGateway } = await compute.send(new ec2.CreateNatGatewayCommand({ SubnetId: subnet }));
  const natGateway = NatGateway!.NatGatewayId!;
  await compute.send(new ec2.CreateVpcEndpointCommand({ VpcId: vpc, ServiceName: `com.amazonaws.${region}.s3` }));
  const group = await compute.send(
    new ec2.CreateSecurityGroupCommand({ VpcId: vpc, GroupName: 'nodes', Description: 'nodes' }),
  );
  const volume = await compute.send(new ec2.CreateVolumeCommand({ AvailabilityZone, Size: 8 }));

  const clusters = new eks.EKSClient(settings);
  const roleArn = 'arn:aws:iam::123456789012:role/node';
  await clusters.send(
    new eks.CreateClusterCommand({ name: clusterName, roleArn, resourcesVpcConfig: { subnetIds: [subnet] } }),
  );
  await clusters.send(
    new eks.CreateNodegroupCommand({ clusterName, nodegroupName: 'base', subnets: [subnet], nodeRole: roleArn }),
  );
  for (const [fargateProfileName, namespace] of [
    ['a-system', 'kube-system'],
    ['batch', 'risk-batch'],
  ] as const)
    await clusters.send(
      new eks.CreateFargateProfileCommand({
        clusterName,
        fargateProfileName,
        podExecutionRoleArn: roleArn,
        selectors: [{ namespace }],
      }),
    );

  const { Role } = await new iam.IAMClient(settings).send(
    new iam.CreateRoleCommand({ RoleName: 'ledger-writer', AssumeRolePolicyDocument: JSON.stringify(trustPolicy) }),
  );
  await new asg.AutoScalingClient(settings).send(
    new asg.CreateLaunchConfigurationCommand({
      LaunchConfigurationName: 'base',
      ImageId: 'ami-12345678',
      InstanceType: 'm6i.large',
    }),
  );
  await new asg.AutoScalingClient(settings).send(
    new asg.CreateAutoScalingGroupCommand({
      AutoScalingGroupName: 'base',
      LaunchConfigurationName: 'base',
      MinSize: 0,
      MaxSize: 1,
      VPCZoneIdentifier: subnet,
      Tags: tagged.map((tag) => ({ ...tag, PropagateAtLaunch: false })),
    }),
  );
  await new sqs.SQSClient(settings).send(new sqs.CreateQueueCommand({ QueueName: 'Karpenter-prod' }));
  await new events.EventBridgeClient(settings).send(
    new events.PutRuleCommand({
      Name: 'spot',
      EventPattern: '{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}',
    }),
  );
  await new mq.MqClient(settings).send(
    new mq.CreateBrokerCommand({
      BrokerName: 'orders',
      EngineType: 'RABBITMQ',
      EngineVersion: '3.13',
      HostInstanceType: 'mq.m5.large',
      DeploymentMode: 'SINGLE_INSTANCE',
      PubliclyAccessible: false,
      AutoMinorVersionUpgrade: true,
      Users: [{ Username: 'orders', Password: 'not-a-secret-1' }],
    }),
  );
  await new rds.RDSClient(settings).send(
    new rds.CreateDBInstanceCommand({
      DBInstanceIdentifier: 'ledger',
      DBInstanceClass: 'db.m6g.large',
      Engine: 'postgres',
      MasterUsername: 'ledger',
      MasterUserPassword: 'not-a-secret-1',
      AllocatedStorage: 20,
    }),
  );
  await new ecr.ECRClient(settings).send(new ecr.CreateRepositoryCommand({ repositoryName: 'web' }));

  const balancers = new elb.ElasticLoadBalancingV2Client(settings);
  const { LoadBalancers } = await balancers.send(
    new elb.CreateLoadBalancerCommand({ Name: 'k8s-shop-web', Type: 'network', Subnets: [subnet] }),
  );
  const { LoadBalancerArn } = LoadBalancers![0]!;
  const { TargetGroups } = await balancers.send(
    new elb.CreateTargetGroupCommand({ Name: 'web', Protocol: 'TCP', Port: 80, VpcId: vpc }),
  );
  const { TargetGroupArn } = TargetGroups![0]!;
  await balancers.send(
    new elb.CreateListenerCommand({
      LoadBalancerArn,
      Protocol: 'TCP',
      Port: 80,
      DefaultActions: [{ Type: 'forward', TargetGroupArn }],
    }),
  );
  await balancers.send(new elb.RegisterTargetsCommand({ TargetGroupArn, Targets: [{ Id: running }] }));

  const measuredAt = Date.now();
  const measure = async (Namespace: string, MetricName: string, Value: number, dimensions: Record<string, string>) =>
    new cloudwatch.CloudWatchClient(settings).send(
      new cloudwatch.PutMetricDataCommand({
        Namespace,
        MetricData: [
          {
            MetricName,
            Value,
            Timestamp: new Date(measuredAt),
            Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
          },
        ],
      }),
    );
  await measure('AWS/EC2', 'StatusCheckFailed_System', 1, { InstanceId: running });
  await measure('AWS/EC2', 'StatusCheckFailed_System', 1, { InstanceId: stranger });
  await measure('AWS/NATGateway', 'BytesOutToDestination', 4096, { NatGatewayId: natGateway });
  await measure('AWS/NetworkELB', 'UnHealthyHostCount', 2, {
    LoadBalancer: LoadBalancerArn!.split('loadbalancer/')[1]!,
    TargetGroup: TargetGroupArn!.split(':').at(-1)!,
    AvailabilityZone,
  });

  const touched: Partial<CloudResources> = {
    namespaces: ['risk-batch'],
    instanceIds: [running, terminated, 'i-0123456789abcdef0'],
    subnetIds: [subnet],
    securityGroupIds: [group.GroupId!],
    volumeIds: [volume.VolumeId!],
    podRoles: [Role!.Arn!],
    loadBalancerHosts: [`k8s-shop-web-0a1b2c3d4e.elb.${region}.amazonaws.com`],
    images: [`123456789012.dkr.ecr.${region}.amazonaws.com/web:gone`],
    queues: ['Karpenter-prod'],
  };
  return { vpc, subnet, running, terminated, stranger, natGateway, measuredAt, touched };
}
