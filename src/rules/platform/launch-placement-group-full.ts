import { claimsOfPool } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'A placement group has reached what it can hold, which the vendor words as a capacity error',
  lookAlikes: ['a real shortage of the type: the sentence does not name a placement group'],
  judge(facts) {
    return failedGroups(facts, ['placement-group'])
      .filter((group) => group.open)
      .map((group) => {
        const evidence = cite('platform', facts);
        const size = group.pool
          ? claimsOfPool(facts, group.pool).filter((claim) => claim.status?.nodeName).length
          : undefined;
        return launchFinding(facts, group, {
          layer: 'platform',
          owner: 'platform',
          boundary: 'capacity',
          strength: 'direct',
          cause: `The placement group of ${nameOfGroup(group)} is full${size ? ` at ${size} nodes` : ''}: “${vendorText(group)}”; ${countOf(group.waiting)} wait.`,
          more: group.nodeClass
            ? [
                evidence.field(group.nodeClass, 'spec.placementGroupSelector'),
                evidence.field(group.nodeClass, 'status.placementGroup'),
              ]
            : [],
          nextSteps: [
            `Take ${nameOfGroup(group)} out of the placement group, use a partition group, or let it use more zones: a spread group holds seven instances per zone.`,
          ],
        });
      });
  },
});
