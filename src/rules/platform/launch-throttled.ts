import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'The cloud’s API throttles launches; who uses up the request rate is not known from this text',
  lookAlikes: ['server errors first and throttling after them: the vendor’s API is degraded'],
  judge(facts) {
    return failedGroups(facts, ['throttled'])
      .filter((group) => group.open)
      .map((group) =>
        launchFinding(facts, group, {
          layer: 'platform',
          owner: 'undetermined',
          boundary: 'provisioning',
          strength: 'circumstantial',
          cause: `The cloud’s API throttles launches for ${nameOfGroup(group)}: “${vendorText(group)}”; ${countOf(group.waiting)} wait. Who uses up the rate is not shown.`,
          nextSteps: [
            'Count calls per caller in the audit trail for the minutes before: aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=ec2.amazonaws.com',
          ],
          missing: [
            {
              layer: 'cloud',
              missing: 'calls per caller and the API’s own error rate around the throttling',
              fix: 'allow cloudtrail:LookupEvents and read AWS/Usage CallCount and AWS/EC2/API RequestLimitExceeded',
            },
          ],
        }),
      );
  },
});
