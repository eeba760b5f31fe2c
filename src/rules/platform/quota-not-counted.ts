import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { citeRefusal, refusedCreations } from '../../facts/control-plane/refused-creations.ts';
import { controlPlaneOwner } from '../../facts/provider.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const unknown = /status unknown for quota: ([^,\s]+)/;
/** A quota that was just made is counted within seconds. */
const patienceMinutes = 3;

export default rule({
  title: 'Pods are not created because a ResourceQuota has never been counted: the quota controller does not get to it',
  lookAlikes: [
    'a quota that is used up: it has a status',
    'a quota that was made a moment ago',
    'an aggregated API that is down stops the quota controller: that comes first',
  ],
  judge(facts, scope) {
    const refused = refusedCreations(facts, scope).flatMap((entry) => {
      const quota = unknown.exec(entry.text)?.[1];
      return quota && minutesBetween(entry.at, facts.now) > patienceMinutes ? [{ entry, quota }] : [];
    });
    return groupBy(refused, ({ entry, quota }) => `${nameOf(entry.workload)} ${quota}`).map((group): FindingDraft => {
      const { entry, quota: name } = group[0]!;
      const quota = facts.find('ResourceQuota', name, entry.workload.metadata.namespace);
      // The controller counts nothing while it cannot discover every API group.
      const dead = facts.all('APIService').find((service) => condition(service, 'Available')?.status === 'False');
      const owner = dead ? 'platform' : controlPlaneOwner(facts);
      const evidence = cite(owner, facts);
      return {
        mechanism: 'quota',
        explains: ['pending', 'rollout', 'job', 'unknown-symptom', 'admission-denied'],
        owner,
        boundary: 'control-plane',
        strength: dead ? 'direct' : 'derived',
        cause: text(
          `${nameOf(entry.workload)} gets no pods because ResourceQuota ${entry.workload.metadata.namespace}/${name} has no count (status unknown)${dead ? `: the quota controller waits for aggregated API ${dead.metadata.name}, which is not available` : ', so the quota controller of the control plane has not looked at it'}.`,
        ),
        root: dead
          ? refOf(dead)
          : quota
            ? refOf(quota)
            : { kind: 'ResourceQuota', name, namespace: entry.workload.metadata.namespace },
        affects: [refOf(entry.workload), refOf(entry.creator)],
        onset: entry.at,
        evidence: [
          citeRefusal(evidence, entry),
          ...(quota ? [evidence.field(quota, 'status', quota.status?.hard ? 'counted since' : 'absent')] : []),
          ...(dead ? [evidence.condition(dead, 'Available')] : []),
        ],
        chain: [
          ...(dead ? [link(dead, 'not available')] : []),
          { object: `ResourceQuota ${name}`, claim: 'never counted' },
          link(entry.workload, 'no pod is created'),
        ],
        nextSteps: [
          text(
            dead
              ? `Bring the backend of APIService ${dead.metadata.name} up, or delete the APIService if nothing needs it.`
              : 'Look at the controller manager’s log (resource_quota_controller), and whether other controllers lag as well; a managed one is the vendor’s.',
          ),
        ],
      };
    });
  },
});
