import type { KubeObject } from '../../domain/kubernetes.ts';
import { candidatePools, nodeClassOf, waitingFor } from '../capacity/pools.ts';
import type { ClusterFacts } from '../cluster.ts';
import { conditionsOf, isNotTrue } from '../conditions.ts';

/** NodeClasses whose node role the cluster does not let in, with the pools and pods that this stops. */
export const unauthorizedClasses = (
  facts: ClusterFacts,
): { nodeClass: KubeObject; type: string; pools: KubeObject[]; waiting: KubeObject[] }[] =>
  ['NodeClass', 'EC2NodeClass'].flatMap((kind) =>
    facts.all(kind).flatMap((nodeClass) => {
      const entry = conditionsOf(nodeClass).find(
        (found) => found.status !== 'True' && found.reason === 'UnauthorizedNodeRole',
      );
      if (!entry) return [];
      const pools = facts.all('NodePool').filter((pool) => nodeClassOf(facts, pool) === nodeClass);
      const waiting = pools
        .flatMap((pool) => waitingFor(facts, pool))
        .filter((pod) => candidatePools(facts, pod).every((pool) => isNotTrue(pool, 'Ready')));
      return [{ nodeClass, type: entry.type, pools, waiting: [...new Set(waiting)] }];
    }),
  );

export interface Access {
  state: 'right' | 'missing' | 'wrong-type' | 'wrong-policy' | 'unread';
  arn?: string;
  type?: string;
  entries?: string[];
}

/** Whether a role may join nodes, as far as the access entries of the cluster were read. */
export const accessOf = (facts: ClusterFacts, role: string): Access => {
  const entries: string[] | undefined = facts.cloud('eks.listAccessEntries')?.accessEntries;
  if (!entries) return { state: 'unread' };
  const known = facts.cloud('iam.getRole')?.Role;
  const arn =
    known?.RoleName === role
      ? entries.find((entry) => entry === known.Arn)
      : entries.find((entry) => entry === role || entry.endsWith(`/${role}`));
  if (!arn) return { state: 'missing', entries };
  const entry = facts.cloud('eks.describeAccessEntry')?.accessEntry;
  const type: string | undefined = entry?.principalArn === arn ? entry.type : undefined;
  if (type && !type.startsWith('EC2')) return { state: 'wrong-type', arn, type, entries };
  const associated = facts.cloud('eks.listAssociatedAccessPolicies');
  const policies: any[] = associated?.associatedAccessPolicies ?? [];
  if (associated?.principalArn === arn && !policies.some((policy) => /AutoNodePolicy/.test(policy.policyArn)))
    return { state: 'wrong-policy', arn, type, entries };
  return { state: 'right', arn, type, entries };
};

/** Look-ups of an access entry by the service itself that asked for another ARN than the one that exists. */
export const failedLookups = (
  facts: ClusterFacts,
  arn: string,
): { index: number; wanted: string; actor: string; error: string; message: string; at: string }[] =>
  ((facts.cloud('cloudtrail.lookupEvents')?.Events ?? []) as any[]).flatMap((event, index) => {
    if (event.EventName !== 'DescribeAccessEntry') return [];
    const detail = parsed(event.CloudTrailEvent);
    const wanted: string = detail?.requestParameters?.principalArn ?? '';
    const actor: string = detail?.userIdentity?.arn ?? detail?.userIdentity?.invokedBy ?? '';
    if (!detail?.errorCode || wanted === arn || !/AWSServiceRole|amazonaws\.com/.test(`${actor} ${detail.userAgent}`))
      return [];
    return [{ index, wanted, actor, error: detail.errorCode, message: detail.errorMessage ?? '', at: event.EventTime }];
  });

const parsed = (text: string | undefined): any => {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};
