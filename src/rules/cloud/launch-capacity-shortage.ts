import type { KubeObject } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, type FailedGroup, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title:
    'The vendor says in its own words that it has no machines of the wanted kind, and pods or a control plane wait for one',
  lookAlikes: [
    'the shortage code around a placement group limit, a quota, a missing spot role or a full subnet: those sentences name the customer’s own limit',
    'a shortage that another type or zone absorbed within minutes',
  ],
  judge(facts) {
    return failedGroups(facts, ['shortage'])
      .filter((group) => group.open && !succeededSince(facts, group))
      .map((group) =>
        launchFinding(facts, group, {
          layer: 'cloud',
          owner: 'cloud',
          boundary: 'capacity',
          strength: 'direct',
          cause: `The vendor has no capacity for ${nameOfGroup(group)}: “${vendorText(group)}” (${group.attempts}×), and ${group.controlPlane ? 'a control-plane machine is missing' : `${countOf(group.waiting)} wait`}.`,
          nextSteps: [
            'Open a capacity case with the vendor, naming instance type, zone and the times of the failed launches.',
            `Meanwhile let ${nameOfGroup(group)} choose other types or zones.`,
          ],
          contributing:
            group.controlPlane || narrow(group.pool)
              ? [
                  {
                    owner: 'platform',
                    action: text(
                      `Widen what ${nameOfGroup(group)} may choose: with so few types or zones one shortage stops it.`,
                    ),
                  },
                ]
              : [],
        }),
      );
  },
});

/** The same group got a machine after the last refusal: then the refusal stopped nobody. */
const succeededSince = (facts: ClusterFacts, group: FailedGroup): boolean =>
  group.pool !== undefined &&
  facts
    .all('NodeClaim')
    .some(
      (claim) =>
        claim.metadata.labels?.['karpenter.sh/nodepool'] === group.name &&
        (claim.metadata.creationTimestamp ?? '') > group.last.at &&
        Boolean(claim.status?.providerID),
    );

const narrow = (pool: KubeObject | undefined): boolean => {
  const values = (key: RegExp): number =>
    (pool?.spec?.template?.spec?.requirements ?? []).find(
      (entry: any) => key.test(entry.key) && entry.operator === 'In',
    )?.values?.length ?? Number.POSITIVE_INFINITY;
  return values(/instance-type$/) <= 2 || values(/zone$/) <= 1 || values(/instance-family$/) <= 1;
};
