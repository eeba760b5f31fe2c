import type { ClusterIdentity, Gap } from '../../domain/facts.ts';
import type { CloudQuestion, CloudReader } from '../../triage/ports.ts';
import { iamAction, operationNames } from '../aws/operations.ts';
import type { Check, CheckGroup } from './check.ts';

/** Names that nothing bears: a right is told by whether AWS looks for it at all. */
const nothingReal = (region: string): Awaited<ReturnType<CloudQuestion['touched']>> => ({
  namespaces: [],
  // None: the cluster's own instances are found by their tag, and with them what hangs on instances.
  instanceIds: [],
  subnetIds: ['subnet-00000000000000000'],
  securityGroupIds: ['sg-00000000000000000'],
  imageIds: ['ami-00000000000000000'],
  volumeIds: ['vol-00000000000000000'],
  nodegroups: ['faultline-doctor'],
  nodeRoles: ['faultline-doctor'],
  podRoles: [],
  nodeRoleRefused: false,
  loadBalancerHosts: [`faultline-doctor-0000000000000000.elb.${region}.amazonaws.com`],
  images: [],
  queues: ['faultline-doctor'],
  launchErrors: ['VcpuLimitExceeded'],
});

const lookBackMs = 15 * 60_000;
/** What is not asked by resources of an incident; past logs have a check of their own where they are configured. */
const askedApart = new Set(['cloudwatch.getMetricData', 'logs.filterLogEvents']);

/** The cluster's AWS account, and each action that triage makes use of, by one harmless call. Never throws. */
export async function checkAws(cloud: CloudReader, identity: ClusterIdentity, now: string): Promise<CheckGroup> {
  const title = `AWS of cluster ${identity.name}`;
  const question: CloudQuestion = {
    since: new Date(Date.parse(now) - lookBackMs).toISOString(),
    until: now,
    touched: async () => nothingReal(identity.region ?? ''),
  };
  const described = await cloud.call('eks.describeCluster', question);
  if (!described.ok && described.gap.reason !== 'forbidden' && identity.provider.startsWith('eks'))
    return { title, checks: [failed('connection', described.gap)] };
  const connection: Check = { name: 'connection', status: 'ok', detail: `AWS answers in ${identity.region}` };
  const rights = operationNames()
    .filter((call) => !askedApart.has(call))
    .map(async (call) => checkOf(iamAction(call), await cloud.call(call, question)));
  const end = Date.parse(now) / 1000;
  const metrics = cloud.metrics(
    [{ namespace: 'AWS/EKS', metric: 'apiserver_request_total_5XX', start: end - 900, end }],
    question,
  );
  const measured = metrics.then((read) => checkOf('cloudwatch:GetMetricData', read));
  return { title, checks: [connection, ...(await Promise.all([...rights, measured]))] };
}

const checkOf = (name: string, read: { ok: true } | { ok: false; gap: Gap }): Check => {
  if (read.ok) return { name, status: 'ok', detail: 'allowed' };
  const { gap } = read;
  // What a forerunner was refused is told once, there.
  if (gap.reason === 'forbidden' && !gap.fix.includes(`\`${name}\``))
    return { name, status: 'skipped', detail: gap.message };
  if (gap.reason !== 'not-found') return failed(name, gap);
  const asked = !gap.message.includes('nothing of this incident');
  return { name, status: asked ? 'ok' : 'skipped', detail: asked ? 'allowed' : 'nothing here to try it on' };
};

/** What AWS sells apart (a support plan) is missing, and no permission would change that. */
const failed = (name: string, { reason, message, fix }: Gap): Check => ({
  name,
  status: reason === 'not-configured' && name.startsWith('health:') ? 'skipped' : 'failed',
  detail: message,
  fix: reason === 'not-found' ? 'set eksName and region of this cluster to those it has in EKS' : fix,
});

/** Said where a cluster runs on AWS and nothing was given to read its account with. */
export const awsNotSetUp = ({ name }: ClusterIdentity): CheckGroup => ({
  title: `AWS of cluster ${name}`,
  checks: [
    {
      name: 'credentials',
      status: 'skipped',
      detail: 'none were given: instances, AWS Health and CloudTrail are not read',
      fix: 'give Faultline AWS credentials, or set role of this cluster; see docs/aws.md',
    },
  ],
});
