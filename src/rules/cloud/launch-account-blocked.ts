import { text } from '../../domain/text.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'The vendor holds the account back (verification pending, blocked), so no machine is created',
  lookAlikes: ['a quota: it names a limit', 'an account in arrears: the customer pays'],
  judge(facts) {
    return failedGroups(facts, ['account-blocked'])
      .filter((group) => group.open)
      .map((group) =>
        launchFinding(facts, group, {
          layer: 'cloud',
          owner: 'cloud',
          boundary: 'provisioning',
          strength: 'derived',
          cause: `The vendor has put a hold on the account, so ${nameOfGroup(group)} gets no machine: “${vendorText(group)}”; ${countOf(group.waiting)} wait.`,
          nextSteps: ['Open an account case with the vendor’s support: only they can lift the hold.'],
          contributing: [
            {
              owner: 'platform',
              action: text('Open the account case and answer the vendor’s verification questions.'),
            },
          ],
        }),
      );
  },
});
