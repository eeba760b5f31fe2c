import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import { minutesBetween } from '../../facts/time.ts';
import { mustWait } from '../../facts/workloads/claims.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const service = /InternalError|InternalFailure|ServiceUnavailable|InternalServerError/i;

export default rule({
  title: 'A larger volume was asked for and is not made: the storage driver or the cloud refuses the expansion',
  lookAlikes: [
    'a volume that fills and that nobody asked to enlarge',
    'an expansion that is minutes old',
    'a waiting time between two changes: the driver works, and what fills the volume is the question',
  ],
  judge(facts, scope) {
    return facts
      .all('PersistentVolumeClaim')
      .filter((claim) => !scope.wide && scope.has(refOf(claim)))
      .flatMap((claim): FindingDraft[] => {
        const asked = quantity(claim.spec?.resources?.requests?.storage) > quantity(claim.status?.capacity?.storage);
        const type = ['ControllerResizeError', 'NodeResizeError', 'ModifyVolumeError'].find(
          (entry) => condition(claim, entry)?.status === 'True',
        );
        const event = facts
          .eventsAbout(claim)
          .filter((entry) => entry.type === 'Warning' && /VolumeResizeFailed|FileSystemResizeFailed/.test(entry.reason))
          .at(-1);
        const current = event && minutesBetween(event.lastAt, facts.now) < 60;
        if (!asked || (!type && !current)) return [];
        const said = (current ? event?.message : undefined) ?? condition(claim, type!)?.message ?? '';
        const vendor = service.test(said);
        const waits = mustWait.test(said);
        const owner = vendor ? 'cloud' : waits ? ownershipOf(facts, claim) : 'platform';
        const evidence = cite(owner, facts);
        const users = facts
          .in('Pod', claim.metadata.namespace ?? '')
          .filter((pod) =>
            (pod.spec?.volumes ?? []).some(
              (volume: any) => volume.persistentVolumeClaim?.claimName === claim.metadata.name,
            ),
          );
        return [
          {
            mechanism: 'volume',
            explains: waits ? ['unknown-symptom'] : ['volume', 'crash', 'application-error', 'unknown-symptom'],
            owner,
            boundary: 'storage',
            strength: waits ? 'circumstantial' : vendor ? 'derived' : 'direct',
            cause: text(
              `${nameOf(claim)} was asked to grow from ${claim.status?.capacity?.storage} to ${claim.spec?.resources?.requests?.storage} and does not: “${said.slice(0, 220)}”.`,
            ),
            root: refOf(claim),
            affects: [claim, ...users].map(refOf),
            onset: event?.firstAt ?? (type ? condition(claim, type)?.lastTransitionTime : undefined),
            evidence: [
              ...(event ? [evidence.event(event)] : []),
              ...(type ? [evidence.condition(claim, type)] : []),
              evidence.field(claim, 'spec.resources.requests.storage'),
              evidence.field(claim, 'status.capacity'),
            ],
            chain: [link(claim, 'is not expanded'), ...users.slice(0, 2).map((pod) => link(pod, 'writes to it'))],
            nextSteps: [
              text(
                'Do what the text asks (a permission, a limit, a waiting time between changes), then watch the claim’s conditions; until then free room on the volume.',
              ),
            ],
          },
        ];
      });
  },
});
