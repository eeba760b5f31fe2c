import { foreignSubscription } from '../../facts/capacity/subscription.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'Launches exceed a quota of the customer’s own account: vCPU, spot, fleet, cores, reservation or disk',
  lookAlikes: [
    'Karpenter files quota refusals under insufficient capacity; the fleet code tells',
    'the quota of a subscription that belongs to the vendor',
  ],
  judge(facts) {
    return failedGroups(facts, ['quota', 'balance'])
      .filter((group) => group.open && !foreignSubscription(facts, group.last.message))
      .map((group) =>
        launchFinding(facts, group, {
          mechanism: group.last.kind === 'quota' ? 'pool-limit' : 'launch-failed',
          layer: 'platform',
          owner: 'platform',
          boundary: 'quota',
          strength: 'direct',
          cause: `${group.last.kind === 'balance' ? 'The account’s balance does not cover' : 'A quota of the own account stops'} new machines for ${nameOfGroup(group)}: “${vendorText(group)}” (${group.attempts}×); ${countOf(group.waiting)} wait.`,
          nextSteps: [
            group.last.kind === 'balance'
              ? 'Settle the account’s balance, then let the pods be created again.'
              : `Request an increase of the quota named in the text (${group.last.code || 'see evidence'}), or free what uses it up.`,
            'List what counts against it: instances of all clusters in this account and region.',
          ],
        }),
      );
  },
});
