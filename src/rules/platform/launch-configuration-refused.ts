import { lastWrite } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title:
    'The vendor refuses a launch for what it asks: image, launch template, profile, security group, subnet, user data or type',
  lookAlikes: ['“Unsupported” for one type in one zone among real shortages'],
  judge(facts) {
    return failedGroups(facts, ['configuration'])
      .filter((group) => group.open)
      .map((group) => {
        const evidence = cite('platform', facts);
        const write = group.nodeClass && lastWrite(group.nodeClass);
        return launchFinding(facts, group, {
          layer: 'platform',
          owner: 'platform',
          boundary: 'provisioning',
          strength: 'direct',
          cause: `The launch request of ${nameOfGroup(group)} is refused for its content (${group.last.code || 'see text'}): “${vendorText(group)}”${write ? `; its class was last written by ${write.manager} at ${write.time}` : ''}; ${countOf(group.waiting)} wait.`,
          more: group.nodeClass
            ? [
                evidence.field(group.nodeClass, 'spec'),
                ...(write ? [evidence.field(group.nodeClass, 'metadata.managedFields', write)] : []),
              ]
            : [],
          nextSteps: [
            `Correct what the text names in ${group.nodeClass ? `${group.nodeClass.kind} ${group.nodeClass.metadata.name}` : 'the node group or its launch template'}.`,
          ],
        });
      });
  },
});
