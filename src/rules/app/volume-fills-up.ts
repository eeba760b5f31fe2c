import type { Series } from '../../domain/facts.ts';
import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { amount } from '../../facts/capacity/requests.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import type { Scope } from '../../facts/scope.ts';
import { firstValue, lastValue, maxValue } from '../../facts/series.ts';
import { minutesBetween } from '../../facts/time.ts';
import { mustWait } from '../../facts/workloads/claims.ts';
import { type Rollout, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const fillingAlert = /PersistentVolume(Inodes)?FillingUp|VolumeFull|DiskSpace.*PVC|PVC.*(Full|Usage)/i;
/** Less free than this share is what alerts about volumes fire on. */
const nearlyFull = 0.1;
/** A release may start to fill a disk a while after it is rolled out, seldom a day. */
const releaseMinutes = 12 * 60;
const noSpace = /no space left on device|ENOSPC|disk (?:is )?full|could not extend file|quota exceeded.*disk/i;

export default rule({
  title: 'A persistent volume fills up: what writes to it, and since which release',
  lookAlikes: [
    'a disk that is slow or detached: the storage, not what is stored',
    'the node’s own disk is full (DiskPressure), not the volume',
    'an expansion that was asked for and is refused: the storage driver',
  ],
  judge(facts, scope) {
    return claimsOf(facts, scope).flatMap((claim) => claimFinding(facts, scope, claim));
  },
});

const claimsOf = (facts: ClusterFacts, scope: Scope): KubeObject[] =>
  scope.wide ? [] : facts.all('PersistentVolumeClaim').filter((claim) => scope.has(refOf(claim)));

const claimFinding = (facts: ClusterFacts, scope: Scope, claim: KubeObject): FindingDraft[] => {
  const { name, namespace = '' } = claim.metadata;
  const labels = { namespace, persistentvolumeclaim: name };
  const free = facts.series('kubelet_volume_stats_available_bytes', labels)[0];
  const capacity = facts.series('kubelet_volume_stats_capacity_bytes', labels)[0];
  const alert = facts.alerts.find(
    (entry) =>
      fillingAlert.test(entry.labels.alertname ?? '') &&
      (!entry.labels.persistentvolumeclaim || entry.labels.persistentvolumeclaim === name),
  );
  const users = facts.in('Pod', namespace).filter((pod) => mounts(pod, name));
  const complaints = grep(facts, users, noSpace);
  const share = free && capacity ? lastValue(free) / lastValue(capacity) : Number.NaN;
  if (!(share < nearlyFull) && !(alert && Number.isNaN(share)) && !(complaints.length > 0 && users.length === 1))
    return [];
  if (resizeRefused(facts, claim)) return [];
  const workload = users[0] && facts.workloadOf(users[0]);
  const owner = ownershipOf(facts, workload ?? claim);
  const evidence = cite(owner, facts);
  const onset = free && steepFrom(free);
  const release = onset ? releaseNear(facts, scope, namespace, onset) : undefined;
  const changes = release?.previous ? templateChanges(release.previous, release.current) : [];
  const culprit = release && facts.ownerOf(release.current);
  const root = culprit ?? workload ?? claim;
  return [
    {
      mechanism: 'volume',
      explains: ['crash', 'application-error', 'probe', 'rollout', 'unknown-symptom'],
      owner: culprit ? ownershipOf(facts, culprit) : owner,
      boundary: 'storage',
      strength: 'derived',
      cause: text(
        `The volume of ${nameOf(claim)} is ${Number.isNaN(share) ? 'almost full' : `full to ${Math.round((1 - share) * 1000) / 10}%`}${free && onset ? `: it lost ${amount('storage', maxValue(free) - lastValue(free))} since ${onset}` : ''}${culprit ? `, when ${nameOf(culprit)} was released${changes.length > 0 ? ` (${changes.slice(0, 3).join('; ')})` : ''}` : workload ? `; ${nameOf(workload)} writes to it` : ''}.`,
      ),
      root: refOf(root),
      affects: [claim, ...users, ...(workload ? [workload] : [])].map(refOf),
      onset: onset ?? alert?.startsAt,
      evidence: [
        ...(free
          ? [
              evidence.series(
                free,
                `${amount('storage', firstValue(free))} → ${amount('storage', lastValue(free))} free`,
              ),
            ]
          : []),
        ...(alert ? [alertEvidence(owner, alert)] : []),
        ...complaints.slice(-1).map((line) => evidence.log(line.log, line.text)),
        evidence.field(claim, 'status.capacity'),
        ...refusals(facts, claim)
          .slice(-1)
          .map((event) => evidence.event(event)),
        ...facts
          .eventsAbout(claim, 'FileSystemResizeSuccessful')
          .slice(-1)
          .map((event) => evidence.event(event)),
        ...(release && culprit
          ? [evidence.field(release.current, 'metadata.creationTimestamp', release.at, changes.join('; '))]
          : []),
      ],
      chain: [
        link(root, culprit ? `released at ${release!.at}` : 'writes to it'),
        link(claim, 'has almost no room left'),
        ...users.slice(0, 2).map((pod) => link(pod, 'will fail to write')),
      ],
      contributing: [],
      nextSteps: [
        text(
          culprit
            ? `Stop the growth first: kubectl rollout undo deployment/${culprit.metadata.name} -n ${namespace}, or put the changed settings back; then delete what need not be kept.`
            : 'Find what grew (retention, logs, temporary files) and delete what need not be kept.',
        ),
        text(
          `To gain time: kubectl patch pvc ${name} -n ${namespace} -p '{"spec":{"resources":{"requests":{"storage":"<larger>"}}}}' (where the class allows expansion)`,
        ),
      ],
    },
  ];
};

const mounts = (pod: KubeObject, claim: string): boolean =>
  (pod.spec?.volumes ?? []).some((volume: any) => volume.persistentVolumeClaim?.claimName === claim);

/** An expansion that was asked for and does not come is the driver's matter, unless it only came too soon after another. */
const resizeRefused = (facts: ClusterFacts, claim: KubeObject): boolean => {
  const stated = ['ControllerResizeError', 'NodeResizeError'].map((type) => condition(claim, type));
  const said = [
    ...stated.flatMap((entry) => (entry?.status === 'True' ? [entry.message ?? ''] : [])),
    ...refusals(facts, claim).map((event) => event.message),
  ];
  return said.length > 0 && !said.some((words) => mustWait.test(words));
};

const refusals = (facts: ClusterFacts, claim: KubeObject): KubeEvent[] =>
  facts.eventsAbout(claim, 'VolumeResizeFailed');

/** Last time at which hardly any of the loss had happened, ISO 8601; undefined where the room did not shrink. */
const steepFrom = (free: Series): string | undefined => {
  const top = maxValue(free);
  const loss = top - lastValue(free);
  const before = free.points.filter(([, value]) => top - value <= 0.05 * loss).at(-1);
  return loss > 0 && before ? new Date(before[0] * 1000).toISOString().replace('.000Z', 'Z') : undefined;
};

/** The release of the namespace that came nearest to the moment at which the volume began to fill. */
const releaseNear = (facts: ClusterFacts, scope: Scope, namespace: string, onset: string): Rollout | undefined =>
  [...facts.in('Deployment', namespace), ...scope.workloads.filter((entry) => entry.kind === 'StatefulSet')]
    .map((workload) => rolloutOf(facts, workload))
    .filter((rollout) => rollout?.previous !== undefined)
    .map((rollout) => ({ rollout: rollout!, distance: Math.abs(minutesBetween(rollout!.at, onset)) }))
    .filter(({ distance }) => distance <= releaseMinutes)
    .sort((a, b) => a.distance - b.distance)[0]?.rollout;
