import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'The account lacks the spot service-linked role, which Karpenter files under insufficient capacity',
  lookAlikes: ['a real spot shortage: it names types and zones, and comes and goes'],
  judge(facts) {
    return failedGroups(facts, ['service-linked-role']).map((group) =>
      launchFinding(facts, group, {
        layer: 'platform',
        owner: 'platform',
        boundary: 'provisioning',
        strength: 'direct',
        cause: `The account has no service-linked role for EC2 Spot and the controller may not create it, so ${nameOfGroup(group)} never gets a spot instance: “${vendorText(group)}”; ${countOf(group.waiting)} wait.`,
        nextSteps: [
          'Create the role once for the account: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com',
        ],
      }),
    );
  },
});
