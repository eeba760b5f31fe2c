import { foreignSubscription } from '../../facts/capacity/subscription.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title:
    'A launch exceeds the quota of a subscription that is not the customer’s: machines the vendor hosts for the cluster',
  lookAlikes: ['the same quota text with the subscription of the cluster’s own nodes: the customer raises it'],
  judge(facts) {
    return failedGroups(facts, ['quota']).flatMap((group) => {
      const foreign = foreignSubscription(facts, group.last.message);
      if (!foreign || !group.open) return [];
      const evidence = cite('cloud', facts);
      return [
        launchFinding(facts, group, {
          layer: 'cloud',
          owner: 'cloud',
          boundary: 'quota',
          strength: 'direct',
          cause: `${nameOfGroup(group)} is hosted in subscription ${foreign.named}, which is not the cluster’s (${foreign.own}), and the quota of that subscription is used up: “${vendorText(group)}”; ${countOf(group.waiting)} wait.`,
          more: [evidence.field(foreign.node, 'spec.providerID')],
          nextSteps: [
            `Open a support case with the vendor: its own subscription ${foreign.named} is out of quota, which the customer can neither see nor raise.`,
          ],
        }),
      ];
    });
  },
});
