import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

/** The vendor's own admission, as opposed to a bare internal error that a bad request can also raise. */
const admission = /heavy load|service ?unavailable|an internal error has occurred|RESOURCE_OPERATION|temporarily/i;

/** The autoscaler's own sentence around two words: nothing of what the vendor said. */
const isBare = (said: string): boolean => /^Node scale up .{0,80}failed: Internal error\b/i.test(said);

export default rule({
  title: 'The vendor’s instance service answers launches with an internal error or says that it is overloaded',
  lookAlikes: ['“UnknownError” as reason: only the sentence tells', 'a request the service refuses for its content'],
  judge(facts) {
    // The autoscaler's event shortens what its status says in full: a precise refusal there is the answer.
    const precise = failedGroups(facts, ['denied', 'configuration', 'quota', 'shortage', 'addresses']).some(
      (group) => group.open && group.last.source !== 'karpenter',
    );
    return failedGroups(facts, ['service-error'])
      .filter((group) => group.open && !(precise && group.last.source !== 'karpenter' && isBare(vendorText(group))))
      .map((group) => {
        const text = vendorText(group);
        return launchFinding(facts, group, {
          layer: 'cloud',
          owner: 'cloud',
          boundary: 'provisioning',
          strength: admission.test(text) ? 'direct' : 'derived',
          cause: `The vendor’s instance service fails launches for ${nameOfGroup(group)}: “${text}” (${group.attempts}×); ${countOf(group.waiting)} wait.`,
          nextSteps: [
            'Open a support case with the vendor: request ids, region, zones and times of the failed calls.',
            'Check the vendor’s health page for the compute service of this region.',
          ],
        });
      });
  },
});
