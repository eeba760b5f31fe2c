import type { KubeObject } from '../domain/kubernetes.ts';
import type { ClusterFacts } from './cluster.ts';

/** EC2 instance id behind a node, from its providerID (`aws:///us-west-2a/i-…`). */
export const instanceIdOf = (node: KubeObject | undefined): string | undefined =>
  /i-[0-9a-f]+$/.exec(node?.spec?.providerID ?? '')?.[0];

/** The node's entry of DescribeInstanceStatus; undefined when the call was not allowed or does not list it. */
export const instanceStatusOf = (facts: ClusterFacts, node: KubeObject): any => {
  const id = instanceIdOf(node);
  const statuses: any[] = facts.cloud('ec2.describeInstanceStatus')?.InstanceStatuses ?? [];
  return id ? statuses.find((status) => status.InstanceId === id) : undefined;
};

/** The node's entry of DescribeInstances. */
export const instanceOf = (facts: ClusterFacts, node: KubeObject): any => {
  const id = instanceIdOf(node);
  const reservations: any[] = facts.cloud('ec2.describeInstances')?.Reservations ?? [];
  return id
    ? reservations.flatMap((entry) => entry.Instances ?? []).find((instance) => instance.InstanceId === id)
    : undefined;
};

export interface TrailEvent {
  name: string;
  at: string;
  /** The principal as CloudTrail writes it: session user or role name. */
  actor: string;
  arn: string;
  userAgent: string;
  /** `sourceIPAddress` or `invokedBy` of an AWS service acting by itself; empty for callers of the account. */
  service: string;
  error: string;
  /** The whole record as text: to look for resource ids. */
  text: string;
}

/** CloudTrail's events, oldest first, in one shape. */
export const trailOf = (facts: ClusterFacts): TrailEvent[] =>
  ((facts.cloud('cloudtrail.lookupEvents')?.Events ?? []) as any[])
    .map((event): TrailEvent => {
      const record = parse(event.CloudTrailEvent);
      const identity = record.userIdentity ?? {};
      const issuer = identity.sessionContext?.sessionIssuer;
      return {
        name: firstText(event.EventName, record.eventName),
        at: firstText(event.EventTime, record.eventTime),
        actor: firstText(event.Username, issuer?.userName, identity.userName, identity.arn),
        arn: firstText(identity.arn),
        userAgent: firstText(record.userAgent),
        service: identity.type === 'AWSService' ? firstText(identity.invokedBy, 'AWS service') : '',
        error: firstText(record.errorCode),
        text: JSON.stringify({ ...event, CloudTrailEvent: record }),
      };
    })
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));

/** The record is JSON inside JSON: no reader has looked at its fields. */
const firstText = (...values: unknown[]): string => values.find((value) => typeof value === 'string') ?? '';

const parse = (text: unknown): any => {
  try {
    return (typeof text === 'string' ? JSON.parse(text) : text) ?? {};
  } catch {
    return {};
  }
};

export interface HealthEvent {
  code: string;
  service: string;
  category: string;
  status: string;
  startedAt?: string;
  region?: string;
  zone?: string;
  description: string;
  /** Ids named as affected. */
  entities: string[];
}

/** AWS Health's events with their descriptions and affected entities. */
export const healthEventsOf = (facts: ClusterFacts): HealthEvent[] => {
  const details: any[] = facts.cloud('health.describeEventDetails')?.successfulSet ?? [];
  const entities: any[] = facts.cloud('health.describeAffectedEntities')?.entities ?? [];
  return ((facts.cloud('health.describeEvents')?.events ?? []) as any[]).map((event) => ({
    code: event.eventTypeCode ?? '',
    service: event.service ?? '',
    category: event.eventTypeCategory ?? '',
    status: event.statusCode ?? '',
    startedAt: event.startTime,
    region: event.region,
    zone: event.availabilityZone,
    description: details.find((detail) => detail.event?.arn === event.arn)?.eventDescription?.latestDescription ?? '',
    entities: entities.filter((entity) => entity.eventArn === event.arn).map((entity) => entity.entityValue ?? ''),
  }));
};

/** An open issue of the vendor's own making, for a service. */
export const openIssues = (facts: ClusterFacts, service?: RegExp): HealthEvent[] =>
  healthEventsOf(facts).filter(
    (event) => event.status === 'open' && event.category === 'issue' && (!service || service.test(event.service)),
  );

/** Zone names (`us-west-2a`) by zone id (`usw2-az1`), as node labels and node classes tell them. */
export const zoneNames = (facts: ClusterFacts): Map<string, string> => {
  const names = new Map<string, string>();
  for (const nodeClass of [...facts.all('EC2NodeClass'), ...facts.all('NodeClass')])
    for (const subnet of nodeClass.status?.subnets ?? []) if (subnet.zoneID) names.set(subnet.zoneID, subnet.zone);
  for (const node of facts.all('Node')) {
    const id = node.metadata.labels?.['topology.k8s.aws/zone-id'];
    const name = node.metadata.labels?.['topology.kubernetes.io/zone'];
    if (id && name) names.set(id, name);
  }
  for (const subnet of facts.cloud('ec2.describeSubnets')?.Subnets ?? [])
    if (subnet.AvailabilityZoneId) names.set(subnet.AvailabilityZoneId, subnet.AvailabilityZone);
  return names;
};
