import { byFilter, type Earlier, type Service, sdkClient } from '../operation.ts';

/** IncludeAllInstances takes up to 100 ids and no pages. */
const maxStatuses = 100;
const maxInterfaceInstances = 5;

const instancesOf = (earlier: Earlier): any[] =>
  (earlier['ec2.describeInstances']?.Reservations ?? []).flatMap((reservation: any) => reservation.Instances ?? []);

const idsOf = (earlier: Earlier): string[] => instancesOf(earlier).map((instance) => instance.InstanceId);

const vpcOf = (earlier: Earlier): string[] => {
  const vpc =
    earlier['eks.describeCluster']?.cluster?.resourcesVpcConfig?.vpcId ??
    instancesOf(earlier).find((instance) => instance.VpcId)?.VpcId;
  return vpc ? [vpc] : [];
};

const distinct = (names: (string | undefined)[]): string[] => [...new Set(names.filter((name) => name !== undefined))];

const inVpc = (list: string, filter = 'vpc-id') => ({
  after: ['eks.describeCluster', 'ec2.describeInstances'],
  requests: (_: unknown, earlier: Earlier) => byFilter(filter, vpcOf(earlier)),
  list,
});

export const ec2: Service = {
  iam: 'ec2',
  budget: { perSecond: 2, burst: 12 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-ec2'), 'EC2Client', settings),
  operations: {
    describeInstances: {
      // Filters rather than ids: one instance that is gone would fail the whole request.
      requests: ({ instanceIds, clusterName }) =>
        instanceIds.length > 0
          ? byFilter('instance-id', instanceIds)
          : byFilter('tag-key', [`kubernetes.io/cluster/${clusterName}`]).map((filter) => ({
              ...filter,
              MaxResults: maxStatuses,
            })),
      list: 'Reservations',
      maxPages: 1,
    },
    describeInstanceStatus: {
      after: ['ec2.describeInstances'],
      requests: (_, earlier) => {
        const InstanceIds = idsOf(earlier).slice(0, maxStatuses);
        return InstanceIds.length > 0 ? [{ InstanceIds, IncludeAllInstances: true }] : [];
      },
      list: 'InstanceStatuses',
    },
    describeSubnets: {
      after: ['eks.describeCluster', 'ec2.describeInstances'],
      requests: ({ subnetIds }, earlier) =>
        byFilter(
          'subnet-id',
          distinct([
            ...subnetIds,
            ...(earlier['eks.describeCluster']?.cluster?.resourcesVpcConfig?.subnetIds ?? []),
            ...instancesOf(earlier).map((instance) => instance.SubnetId),
          ]),
        ),
      list: 'Subnets',
    },
    describeRouteTables: inVpc('RouteTables'),
    describeNatGateways: {
      ...inVpc('NatGateways'),
      // This one operation calls its parameter Filter.
      requests: (_, earlier) => byFilter('vpc-id', vpcOf(earlier)).map(({ Filters }) => ({ Filter: Filters })),
    },
    describeVpcEndpoints: inVpc('VpcEndpoints'),
    describeSecurityGroups: {
      after: ['eks.describeCluster', 'ec2.describeInstances'],
      requests: ({ securityGroupIds }, earlier) =>
        byFilter(
          'group-id',
          distinct([
            ...securityGroupIds,
            earlier['eks.describeCluster']?.cluster?.resourcesVpcConfig?.clusterSecurityGroupId,
            ...instancesOf(earlier).flatMap((instance) => (instance.SecurityGroups ?? []).map((g: any) => g.GroupId)),
          ]),
        ),
      list: 'SecurityGroups',
    },
    describeNetworkInterfaces: {
      after: ['ec2.describeInstances'],
      requests: (_, earlier) => byFilter('attachment.instance-id', idsOf(earlier).slice(0, maxInterfaceInstances)),
      list: 'NetworkInterfaces',
      maxPages: 1,
    },
    describeVolumes: {
      requests: ({ volumeIds }) => byFilter('volume-id', volumeIds),
      list: 'Volumes',
    },
    describeSpotInstanceRequests: {
      after: ['ec2.describeInstances'],
      requests: (_, earlier) =>
        byFilter(
          'spot-instance-request-id',
          distinct(instancesOf(earlier).map((instance) => instance.SpotInstanceRequestId)),
        ),
      list: 'SpotInstanceRequests',
    },
    describeLaunchTemplateVersions: {
      after: ['eks.describeNodegroup', 'ec2.describeInstances'],
      requests: (_, earlier) => launchTemplatesOf(earlier).slice(0, 3),
      list: 'LaunchTemplateVersions',
      maxPages: 1,
      // User data may hold secrets.
      shape: ({ LaunchTemplateVersions }) => ({
        LaunchTemplateVersions: LaunchTemplateVersions.map(({ LaunchTemplateData, ...version }: any) => {
          const { UserData, ...data } = LaunchTemplateData ?? {};
          return { ...version, LaunchTemplateData: data };
        }),
      }),
    },
    describeImages: {
      after: ['ec2.describeInstances'],
      requests: ({ imageIds }, earlier) =>
        byFilter('image-id', distinct([...imageIds, ...instancesOf(earlier).map((instance) => instance.ImageId)])),
      list: 'Images',
    },
  },
};

/** Templates in use, by the tags that Auto Scaling leaves on instances, and the node group's own. */
const launchTemplatesOf = (earlier: Earlier): Record<string, unknown>[] => {
  const group = earlier['eks.describeNodegroup']?.nodegroup?.launchTemplate;
  const used = [
    ...(group?.id ? [[group.id, group.version ?? '$Default']] : []),
    ...instancesOf(earlier).map((instance) => [
      tagOf(instance, 'aws:ec2launchtemplate:id'),
      tagOf(instance, 'aws:ec2launchtemplate:version'),
    ]),
  ].filter(([id, version]) => id && version);
  return [
    ...new Map(used.map(([id, version]) => [`${id}/${version}`, { LaunchTemplateId: id, Versions: [version] }])),
  ].map(([, request]) => request);
};

const tagOf = (instance: any, key: string): string | undefined =>
  (instance.Tags ?? []).find((tag: any) => tag.Key === key)?.Value;
