import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'Launches fail with a text that fits several causes: the class of the symptom only',
  lookAlikes: ['UnfulfillableCapacity: a shortage, a missing spot role or a request nobody can fill'],
  judge(facts) {
    return failedGroups(facts, ['vague', 'unknown'])
      .filter((group) => group.open)
      .map((group) =>
        launchFinding(facts, group, {
          layer: 'platform',
          owner: 'undetermined',
          boundary: 'provisioning',
          strength: 'circumstantial',
          cause: `Launches for ${nameOfGroup(group)} fail: “${vendorText(group)}” (${group.attempts}×), which fits a shortage as well as a wrong request; ${countOf(group.waiting)} wait.`,
          nextSteps: [
            'Read the fleet or scaling call in the cloud’s audit trail: it carries the error of each type and zone.',
          ],
          missing: [
            {
              layer: 'cloud',
              missing: 'the vendor’s error per type and zone behind this text',
              fix: 'read the CreateFleet or RunInstances call in CloudTrail (cloudtrail:LookupEvents), or the scaling activities of the group',
            },
          ],
        }),
      );
  },
});
