import { shellWord } from '../domain/shell.ts';
import type { ClusterFacts } from './cluster.ts';
import { addMinutes } from './time.ts';

/** What an answer's field was cited as; `seen` is all of it as one text, in which ids are looked for. */
export interface CitedField {
  call: string;
  path: string;
  value: string;
  seen: string;
  at?: string;
}

type Options = (cited: CitedField, facts: ClusterFacts) => string[];

/** `--flag id …` for every id of the kind that the field names; the whole list where it names none. */
const ids =
  (flag: string, pattern: RegExp, prefix = ''): Options =>
  ({ seen }) => {
    const found = [...new Set(seen.match(pattern) ?? [])].slice(0, 10);
    if (found.length === 0) return [];
    return prefix ? [flag, `${prefix}${found.join(',')}`] : [flag, ...found];
  };

const option = (flag: string, value: unknown): string[] =>
  typeof value === 'string' && value ? [flag, shellWord(value)] : [];

const eksName = (facts: ClusterFacts): string =>
  facts.cloud('eks.describeCluster')?.cluster?.name ?? facts.identity.name;
const ofCluster = (facts: ClusterFacts): string[] => option('--cluster-name', eksName(facts));

const instance = /\bi-[0-9a-f]{8,}\b/g;
/** CloudTrail is asked for one name at a time, and a call without a window answers ninety days. */
const trailMinutes = 10;

/** `DisassociateRouteTable` among other words, and no error's name. */
const callNameIn = (seen: string): string | undefined =>
  seen.match(/\b(?:[A-Z][a-z]+){2,}[A-Z]?[A-Za-z0-9]*\b/g)?.find((word) => !/(?:Exception|Error|Fault)$/.test(word));

/** The options that make each call show what was cited: required ones, and the ids that narrow it. */
const optionsOf: Record<string, Options> = {
  'ec2.describeInstanceStatus': (cited, facts) => [
    '--include-all-instances',
    ...ids('--instance-ids', instance)(cited, facts),
  ],
  'ec2.describeInstances': ids('--instance-ids', instance),
  'ec2.describeSpotInstanceRequests': ids('--filters', instance, 'Name=instance-id,Values='),
  'ec2.describeSubnets': (cited, facts) => {
    const [, index] = /^Subnets\[(\d+)\]/.exec(cited.path) ?? [];
    const subnet = index === undefined ? undefined : facts.cloud('ec2.describeSubnets')?.Subnets?.[Number(index)];
    return subnet?.SubnetId
      ? option('--subnet-ids', subnet.SubnetId)
      : ids('--subnet-ids', /\bsubnet-[0-9a-z]+\b/g)(cited, facts);
  },
  'ec2.describeRouteTables': ids('--route-table-ids', /\brtb-[0-9a-z]+\b/g),
  'ec2.describeNatGateways': ids('--nat-gateway-ids', /\bnat-[0-9a-z]+\b/g),
  'ec2.describeSecurityGroups': ids('--group-ids', /\bsg-[0-9a-z]+\b/g),
  'ec2.describeVolumes': ids('--volume-ids', /\bvol-[0-9a-z]+\b/g),
  'autoscaling.describeScalingActivities': ({ path }, facts) => {
    const [, index] = /^Activities\[(\d+)\]/.exec(path) ?? [];
    const activities = facts.cloud('autoscaling.describeScalingActivities')?.Activities;
    return option('--auto-scaling-group-name', activities?.[Number(index)]?.AutoScalingGroupName);
  },
  'eks.describeCluster': (_, facts) => option('--name', eksName(facts)),
  'eks.listAccessEntries': (_, facts) => ofCluster(facts),
  'eks.describeAccessEntry': (_, facts) => [
    ...ofCluster(facts),
    ...option('--principal-arn', facts.cloud('eks.describeAccessEntry')?.accessEntry?.principalArn),
  ],
  'eks.describeNodegroup': (_, facts) => [
    ...ofCluster(facts),
    ...option('--nodegroup-name', facts.cloud('eks.describeNodegroup')?.nodegroup?.nodegroupName),
  ],
  'eks.describeFargateProfile': (_, facts) => [
    ...ofCluster(facts),
    ...option('--fargate-profile-name', facts.cloud('eks.describeFargateProfile')?.fargateProfile?.fargateProfileName),
  ],
  'eks.describeUpdate': (_, facts) => [
    ...option('--name', eksName(facts)),
    ...option('--update-id', facts.cloud('eks.describeUpdate')?.update?.id),
  ],
  'iam.getRole': (_, facts) => option('--role-name', facts.cloud('iam.getRole')?.Role?.RoleName),
  'rds.describeDBInstances': ({ path }) =>
    option('--db-instance-identifier', /^DBInstances\[([\w-]+)\]/.exec(path)?.[1]),
  'cloudtrail.lookupEvents': ({ path, seen, at }, facts) => {
    const [, index] = /^Events\[(\d+)\]/.exec(path) ?? [];
    const cited = facts.cloud('cloudtrail.lookupEvents')?.Events?.[Number(index)]?.EventName;
    const name = typeof cited === 'string' && /^\w+$/.test(cited) ? cited : callNameIn(seen);
    return [
      ...(name ? ['--lookup-attributes', `AttributeKey=EventName,AttributeValue=${name}`] : []),
      ...(at ? ['--start-time', addMinutes(at, -trailMinutes), '--end-time', addMinutes(at, trailMinutes)] : []),
    ];
  },
  'health.describeEvents': ({ value }) => {
    const [code] = /\bAWS_[A-Z0-9_]+\b/.exec(value) ?? [];
    return code ? ['--filter', `eventTypeCodes=${code}`] : [];
  },
};

/** Services whose API stands in one region whatever region it speaks of; IAM has none. */
const regionOf = (service: string, facts: ClusterFacts): string[] => {
  if (service === 'iam') return [];
  return option('--region', service === 'health' ? 'us-east-1' : facts.identity.region);
};

/** `aws rds describe-db-instances …`, as a person runs it to see the cited field again. */
export const awsCommand = (cited: CitedField, facts: ClusterFacts): string => {
  const [service = '', operation = ''] = cited.call.split('.');
  const command = operation
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
  const name = service === 'servicequotas' ? 'service-quotas' : service;
  const options = optionsOf[cited.call]?.(cited, facts) ?? [];
  return ['aws', name, command, ...regionOf(service, facts), ...options].join(' ');
};
