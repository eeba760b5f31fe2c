import { lastWrite } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

const deniers: [RegExp, string][] = [
  [/service control policy/i, 'an organisation policy (service control policy)'],
  [/permissions boundary/i, 'a permissions boundary'],
  [/RequestDisallowedByPolicy/i, 'an Azure policy'],
  [/resource-based policy/i, 'a resource policy'],
  [/KMS|Client\.InternalError|Client error on launch/i, 'the key policy of the disk’s encryption key'],
  [/AMIAuthorization|not authorized for images|launch permission/i, 'the image’s launch permissions'],
  [/identity-based policy|no identity/i, 'the controller’s own identity policy'],
  [/ServiceAccount|service\.account/i, 'the node service account'],
];

export default rule({
  title: 'Launches are refused for lack of permission: policy of the organisation, boundary, identity, key or image',
  lookAlikes: [
    'the missing spot service-linked role, which looks like a shortage',
    'an access entry missing for the node role',
  ],
  judge(facts) {
    return failedGroups(facts, ['denied']).map((group) => {
      const all = group.failures.map((entry) => entry.message).join(' ');
      const denier = deniers.find(([pattern]) => pattern.test(all))?.[1] ?? 'a permission that the caller lacks';
      return launchFinding(facts, group, {
        layer: 'platform',
        owner: 'platform',
        boundary: 'provisioning',
        strength: 'direct',
        more: (group.nodeClass?.spec?.blockDeviceMappings ?? []).some((device: any) => device.ebs?.kmsKeyID)
          ? [
              cite('platform', facts).field(group.nodeClass!, 'spec.blockDeviceMappings'),
              cite('platform', facts).field(group.nodeClass!, 'metadata.managedFields', lastWrite(group.nodeClass!)),
            ]
          : [],
        cause: `Launches for ${nameOfGroup(group)} are denied by ${denier}: “${vendorText(group)}” (${group.attempts}×); ${countOf(group.waiting)} wait.`,
        nextSteps: [
          'Decode the message (aws sts decode-authorization-message) and read the denying statement in the cloud’s audit trail.',
          `Change that policy, or keep ${nameOfGroup(group)} to what it allows.`,
        ],
      });
    });
  },
});
