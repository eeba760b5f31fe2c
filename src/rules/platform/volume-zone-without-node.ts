import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { statusOf } from '../../facts/capacity/autoscaler-status.ts';
import { misfitsOf, volumesOf, volumeZones, zoneLabel, zonesOfVolume } from '../../facts/capacity/pools.ts';
import { type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { rule } from '../../triage/rule.ts';
import { refusalEvidence, waitingChain } from '../waiting.ts';

const conflict =
  /volume node affinity conflict|PersistentVolume's node affinity|no available volume zone|incompatible volume requirements/;

export default rule({
  title:
    'A pod’s disk lies in a zone in which there is no node for it, and no autoscaler or pool that would make one there',
  lookAlikes: [
    'nodes of the zone that are lost: the zone decides',
    'a pool for the zone that exists and is at its limit or refused',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const zones = volumeZones(facts, group.sample);
      if (!zones || zones.length === 0 || group.candidates.length > 0 || !speaksOfZone(group)) return [];
      const inZone = facts.all('Node').filter((node) => zones.includes(node.metadata.labels?.[zoneLabel] ?? ''));
      const ready = inZone.filter((node) => isTrue(node, 'Ready'));
      const evidence = cite('platform', facts);
      const volume = volumesOf(facts, group.sample).find((entry) => zonesOfVolume(entry.volume).length > 0);
      const others = [
        ...new Set(facts.all('Node').map((node) => node.metadata.labels?.[zoneLabel] ?? 'unknown')),
      ].sort();
      const status = facts.find('ConfigMap', 'cluster-autoscaler-status', 'kube-system');
      const groups: any[] = statusOf(status)?.nodeGroups ?? [];
      const pools = facts
        .all('NodePool')
        .filter((pool) => misfitsOf(facts, group.sample, pool).every((entry) => entry.key === zoneLabel));
      const why =
        ready.length > 0
          ? `its ${ready.length} nodes there do not take it`
          : groups.length > 0
            ? `${groups.map((entry) => entry.name).join(', ')} spans several zones, so the autoscaler cannot ask for a node in this one`
            : pools.length > 0
              ? `NodePool ${pools.map((pool) => pool.metadata.name).join(', ')} may not use that zone`
              : 'nothing makes one there';
      return [
        {
          mechanism: 'scheduling' as const,
          explains: ['pending' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner: 'platform' as const,
          boundary: 'scheduling' as const,
          strength:
            inZone.length === 0 && !zoneInTrouble(facts, zones)
              ? ('direct' as const)
              : ready.length > 0
                ? ('derived' as const)
                : ('circumstantial' as const),
          cause: text(
            `The disk of ${group.sample.metadata.namespace}/${group.sample.metadata.name} (${volume?.volume?.metadata.name ?? 'its volume'}) can only be used in ${zones.join(', ')}, and ${ready.length === 0 ? `no node is there (nodes are in ${others.join(', ')})` : `${ready.length} nodes are there`}; ${why}.`,
          ),
          root: refOf(volume?.volume ?? group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...(volume?.volume ? [evidence.field(volume.volume, 'spec.nodeAffinity')] : []),
            ...(volume ? [evidence.field(volume.claim, 'status.phase')] : []),
            ...facts
              .all('Node')
              .slice(0, 4)
              .map((node) => evidence.field(node, `metadata.labels[${zoneLabel}]`, node.metadata.labels?.[zoneLabel])),
            ...(status ? [evidence.field(status, 'data.status')] : []),
            ...pools.slice(0, 2).map((pool) => evidence.field(pool, 'spec.template.spec.requirements')),
          ],
          chain: [
            {
              object: `PersistentVolume ${volume?.volume?.metadata.name ?? ''}`,
              uid: volume?.volume?.metadata.uid,
              claim: `usable in ${zones.join(', ')} only`,
            },
            ...waitingChain(group),
          ],
          nextSteps: [
            text(`Bring a node up in ${zones.join(', ')}: a node group or pool per zone lets the autoscaler do it.`),
            text('For the moment scale the zone’s group by hand, or uncordon a node there.'),
          ],
        },
      ];
    });
  },
});

/** An open event of the vendor about the zone, or its nodes lost within the hour: then the zone is the first question. */
const zoneInTrouble = (facts: ClusterFacts, zones: string[]): boolean =>
  ((facts.cloud('health.describeEvents')?.events ?? []) as any[]).some(
    (event) => event.statusCode === 'open' && (!event.availabilityZone || zones.includes(event.availabilityZone)),
  ) ||
  facts.events.some((event) => event.reason === 'DeletingNode' && /does not exist in the cloud/.test(event.message));

const speaksOfZone = (group: WaitingGroup): boolean =>
  group.clauses.some((clause) => conflict.test(clause.reason)) ||
  conflict.test(group.autoscalerEvent?.message ?? '') ||
  group.refusals.some(
    (refusal) => refusal.kind === 'volume' || (refusal.kind === 'requirement' && /zone$/.test(refusal.key ?? '')),
  );
