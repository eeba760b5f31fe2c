import type { KubeObject } from '../../domain/kubernetes.ts';
import { trailOf } from '../../facts/aws.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

/** A caller with more than this share of the calls uses up the rate. */
const dominantShare = 0.6;

export default rule({
  title: 'The cloud’s API throttles launches; the audit trail tells who uses up the request rate, or nobody can tell',
  lookAlikes: ['server errors first and throttling after them: the vendor’s API is degraded'],
  judge(facts) {
    return failedGroups(facts, ['throttled'])
      .filter((group) => group.open)
      .map((group) => {
        const caller = loudestCaller(facts);
        const account = caller && serviceAccountOf(facts, caller.role);
        const owner = caller ? (account ? ownershipOf(facts, account) : 'platform') : 'undetermined';
        const evidence = cite('platform', facts);
        return launchFinding(facts, group, {
          layer: 'platform',
          owner,
          boundary: 'provisioning',
          strength: caller ? 'derived' : 'circumstantial',
          cause: `The cloud’s API throttles launches for ${nameOfGroup(group)}: “${vendorText(group)}”; ${countOf(group.waiting)} wait. ${caller ? `${caller.role} makes ${caller.calls} of the ${caller.all} calls on the trail.` : 'Who uses up the rate is not shown.'}`,
          more: caller
            ? [
                evidence.aws(
                  'cloudtrail.lookupEvents',
                  'userIdentity.arn',
                  caller.arn,
                  `${caller.calls} of ${caller.all} calls`,
                ),
              ]
            : [],
          nextSteps: [
            caller
              ? `Slow down ${caller.role}, or move it to another account.`
              : 'Count calls per caller in the audit trail for the minutes before: aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=ec2.amazonaws.com',
          ],
          missing: caller
            ? []
            : [
                {
                  layer: 'cloud',
                  missing: 'calls per caller and the API’s own error rate around the throttling',
                  fix: 'allow cloudtrail:LookupEvents and read AWS/Usage CallCount and AWS/EC2/API RequestLimitExceeded',
                },
              ],
        });
      });
  },
});

const loudestCaller = (facts: ClusterFacts) => {
  const calls = trailOf(facts).filter((event) => event.arn !== '' && event.service === '');
  const counts = new Map<string, number>();
  for (const { arn } of calls)
    counts.set(arn.replace(/\/[^/]+$/, ''), (counts.get(arn.replace(/\/[^/]+$/, '')) ?? 0) + 1);
  const [arn, most] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  return calls.length >= 5 && most / calls.length > dominantShare
    ? { arn, role: arn.split('/').at(-1) ?? arn, calls: most, all: calls.length }
    : undefined;
};

/** The service account whose pods assume the role. */
const serviceAccountOf = (facts: ClusterFacts, role: string): KubeObject | undefined =>
  facts
    .all('ServiceAccount')
    .find((account) => account.metadata.annotations?.['eks.amazonaws.com/role-arn']?.endsWith(`/${role}`));
