import type { KubeObject } from '../../domain/kubernetes.ts';
import { type TrailEvent, trailOf } from '../aws.ts';
import type { ClusterFacts } from '../cluster.ts';
import { podSpecOf } from '../pods.ts';
import { minutesBetween } from '../time.ts';
import { envOf } from '../workloads/workloads.ts';

/** ARN of the role that a pod takes through its ServiceAccount or the variable its webhook sets. */
export const roleArnOf = (account: KubeObject | undefined, pod: KubeObject): string | undefined =>
  account?.metadata.annotations?.['eks.amazonaws.com/role-arn'] ??
  (podSpecOf(pod)?.containers ?? []).map((container: any) => envOf(container, 'AWS_ROLE_ARN')).find(Boolean);

/** The trust policy of the role, where it was read. */
export const trustPolicyOf = (facts: ClusterFacts, arn: string | undefined): unknown => {
  const role = facts.cloud('iam.getRole')?.Role;
  return role && arn && role.Arn === arn ? role.AssumeRolePolicyDocument : undefined;
};

/** Id of the cluster's OIDC provider: the issuer's, which EKS also puts into the endpoint's name. */
const clusterOidcId = (facts: ClusterFacts): string | undefined => {
  const cluster = facts.cloud('eks.describeCluster')?.cluster;
  return (
    /\/id\/(\w+)/.exec(cluster?.identity?.oidc?.issuer ?? '')?.[1] ??
    /^https:\/\/(\w+)\./.exec(cluster?.endpoint ?? '')?.[1]
  );
};

/** The OIDC provider a trust policy names instead of this cluster's; undefined where it names this one, or none. */
export const foreignOidcId = (facts: ClusterFacts, trust: unknown): string | undefined => {
  const own = clusterOidcId(facts);
  const named = [...JSON.stringify(trust ?? '').matchAll(/oidc\.eks\.[\w.-]+\/id\/(\w+)/g)].map((match) => match[1]!);
  return own && named.length > 0 && !named.includes(own) ? named[0] : undefined;
};

const trustChange =
  /^(UpdateAssumeRolePolicy|CreateRole|DeleteRole|DeleteOpenIDConnectProvider|UpdateOpenIDConnectProvider\w*)$/;
const policyChange =
  /^((Put|Delete|Attach|Detach)RolePolicy|(Put|Delete)RolePermissionsBoundary|CreatePolicyVersion|SetDefaultPolicyVersion|DeleteRole)$/;

/** A change that was lived with for a day is not what began to hurt now. */
const recentMinutes = 24 * 60;

/** The last change of what a role trusts or may do, by the audit trail. */
export const roleChange = (
  facts: ClusterFacts,
  arn: string | undefined,
  of: 'trust' | 'policy',
): TrailEvent | undefined => {
  const name = arn?.split('/').at(-1);
  const kind = of === 'trust' ? trustChange : policyChange;
  return trailOf(facts)
    .filter((event) => kind.test(event.name) && !event.error && minutesBetween(event.at, facts.now) < recentMinutes)
    .filter((event) => name !== undefined && namesRole(event, name))
    .at(-1);
};

const namesRole = (event: TrailEvent, name: string): boolean =>
  new RegExp(`(^|[^\\w+=,.@-])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^\\w+=,.@-])`).test(event.text);
