import type { Evidence } from '../../domain/evidence.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, instanceStatusOf, openIssues, trailOf, zoneNames } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { changesNetwork } from '../../facts/network/network-trail.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { isSilent, silentSince, zoneLabelOf, zoneOf } from '../../facts/nodes/nodes.ts';
import { isTroubled } from '../../facts/pods.ts';
import { vendorOf } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const unreached =
  /i\/o timeout|connection timed out|TLS handshake timeout|no route to host|dial tcp .*timeout|context deadline exceeded/i;
/** Errors of the vendor's own; lack of capacity is a state of the market, not trouble of a zone. */
const vendorFault =
  /\b(InternalError|InternalFailure|InternalServerError|ServiceUnavailable|RequestTimeout|InternalExecutionError|ZONE_RESOURCE_INTERNAL)\b|Internal error\. Please try again|contact Google Support/;
/** Nodes that a zone takes down fall silent within this of one another. */
const togetherMinutes = 10;

/** One kind of trouble that sits in a zone; unrelated kinds together speak for the zone itself. */
interface Symptom {
  kind: 'silent nodes' | 'failed status checks' | 'failed pulls or lookups' | 'failed launches';
  count: number;
  evidence: Evidence[];
  refs: ObjectRef[];
  at?: string;
}

export default rule({
  title: 'Unrelated troubles share one availability zone while the others are well',
  lookAlikes: [
    'all zones at once: a change of the network, or the control plane',
    'one subnet or route of that zone was changed by somebody',
    'a vendor event in a zone where nothing of the subject runs',
  ],
  judge(facts) {
    const zones = [...new Set(facts.all('Node').map(zoneOf))].filter((zone) => zone !== undefined).sort();
    if (zones.length < 2) return [];
    const troubled = zones
      .map((zone) => ({ zone, symptoms: symptomsIn(facts, zone) }))
      .filter((entry) => entry.symptoms.length > 0);
    const silentElsewhere = (zone: string): number =>
      facts.all('Node').filter((node) => zoneOf(node) !== zone && isSilent(node)).length;
    return troubled.flatMap(({ zone, symptoms }) => {
      if (troubled.some((other) => other.zone !== zone && other.symptoms.length >= symptoms.length)) return [];
      if (silentElsewhere(zone) > 0 || trailOf(facts).some(changesNetwork)) return [];
      const issue = openIssues(facts, /EC2|VPC|ELASTICLOADBALANCING|EBS|MULTIPLE/i).find(
        (event) => (zoneNames(facts).get(event.zone ?? '') ?? event.zone) === zone,
      );
      const inZone = facts.all('Node').filter((node) => zoneOf(node) === zone);
      const silent = inZone.filter(isSilent);
      const all = silent.length >= 2 && silent.length === inZone.length && together(facts, silent);
      // A silent node and its failed check are one trouble, and one node is a host, not a zone.
      const checked = symptoms.some((symptom) => symptom.kind === 'failed status checks' && symptom.count >= 2);
      const independent = symptoms.filter((symptom) => symptom.kind !== 'failed status checks').length;
      const proven = independent >= 2 || (silent.length >= 2 && checked);
      if (!issue && !proven && !all) return [];
      const evidence = cite('cloud', facts);
      const kinds = symptoms.map((symptom) => `${symptom.count} ${symptom.kind}`).join(', ');
      const harmed = inZone.filter((node) => isSilent(node) || facts.podsOn(node.metadata.name).some(isTroubled));
      return [
        {
          mechanism: 'zone-outage' as const,
          explains: [
            'host-failure' as const,
            'node-silent' as const,
            'image-pull' as const,
            'launch-failed' as const,
            'pending' as const,
            'scheduling' as const,
            'dns' as const,
            'network' as const,
            'probe' as const,
            'eviction' as const,
            'volume' as const,
            'rollout' as const,
            'dependency' as const,
            'application-error' as const,
            'node-not-joining' as const,
            'unknown-symptom' as const,
            'crash' as const,
            'sandbox-network' as const,
          ],
          owner: 'cloud' as const,
          boundary: 'zone' as const,
          strength:
            issue || (checked && silent.length >= 2)
              ? ('direct' as const)
              : proven
                ? ('derived' as const)
                : ('circumstantial' as const),
          cause: text(
            `${vendorOf(facts)} has trouble in zone ${zone}: ${kinds || 'trouble'} all sit there, the other ${zones.length - 1} zones are well${issue ? `, and the vendor has an open event (${issue.code}) on it` : ''}.`,
          ),
          root: { kind: 'Zone', name: zone },
          affects: [...harmedBy(facts, harmed), ...symptoms.flatMap((symptom) => symptom.refs)],
          onset: earliest(issue?.startedAt, ...symptoms.map((symptom) => symptom.at)),
          evidence: [
            ...(issue
              ? [
                  evidence.aws(
                    'health.describeEvents',
                    'events',
                    `${issue.code} ${issue.status} in ${issue.zone ?? zone}`,
                    issue.description,
                    issue.startedAt,
                  ),
                ]
              : []),
            ...symptoms.flatMap((symptom) => symptom.evidence),
          ],
          chain: [
            { object: `Zone ${zone}`, claim: 'connectivity or host trouble' },
            ...harmed.slice(0, 2).map((node) => link(node, isSilent(node) ? 'silent' : 'its pods fail')),
          ],
          nextSteps: [
            text(`Move work out of ${zone}: cordon its nodes, take the zone out of the pools, or start a zonal shift.`),
            text(
              `Open a case with ${vendorOf(facts)}${issue ? ` referring to ${issue.code}` : ''}: ${kinds} in ${zone} (${names(harmed)}).`,
            ),
          ],
        },
      ];
    });
  },
});

const together = (facts: ClusterFacts, nodes: KubeObject[]): boolean => {
  const times = nodes.map((node) => silentSince(facts, node) ?? '').sort();
  return minutesBetween(times[0], times.at(-1)) <= togetherMinutes;
};

const symptomsIn = (facts: ClusterFacts, zone: string): Symptom[] => {
  const evidence = cite('cloud', facts);
  const nodes = facts.all('Node').filter((node) => zoneOf(node) === zone);
  const silent = nodes.filter(isSilent);
  const impaired = nodes.filter((node) => {
    const status = instanceStatusOf(facts, node);
    return (
      status?.SystemStatus?.Status === 'impaired' || (status?.InstanceStatus?.Status === 'impaired' && isSilent(node))
    );
  });
  const pulls = nodes
    .filter((node) => isTrue(node, 'Ready'))
    .flatMap((node) => facts.podsOn(node.metadata.name))
    .flatMap((pod) =>
      facts
        .eventsAbout(pod, 'Failed')
        .filter((event) => /pull/i.test(event.message) && unreached.test(event.message))
        .slice(-1)
        .map((event) => ({ pod, event })),
    );
  const launchLines = linesLike(facts, vendorFault).filter(({ line }) => new RegExp(`\\b${zone}\\b`).test(line));
  const launchEvents = facts.events.filter(
    (event) =>
      vendorFault.test(event.message) &&
      new RegExp(`\\b${zone}\\b`).test(event.message) &&
      /launch|scale|creat|capacity/i.test(`${event.reason} ${event.message}`),
  );
  const symptoms: Symptom[] = [
    {
      kind: 'silent nodes',
      count: silent.length,
      evidence: silent
        .slice(0, 2)
        .flatMap((node) => [evidence.condition(node, 'Ready'), evidence.label(node, zoneLabelOf(node))]),
      refs: silent.map(refOf),
      at: earliest(...silent.map((node) => silentSince(facts, node))),
    },
    {
      kind: 'failed status checks',
      count: impaired.length,
      evidence: impaired
        .slice(0, 2)
        .map((node) =>
          evidence.aws(
            'ec2.describeInstanceStatus',
            `${instanceIdOf(node)}.SystemStatus`,
            instanceStatusOf(facts, node)?.SystemStatus?.Status,
            `in ${zone}`,
          ),
        ),
      refs: [],
    },
    {
      kind: 'failed pulls or lookups',
      count: new Set(pulls.map(({ pod }) => pod.metadata.name)).size,
      evidence: pulls.slice(0, 1).map(({ event }) => evidence.event(event)),
      refs: pulls.flatMap(({ pod }) => [refOf(pod), refOf(facts.workloadOf(pod))]),
      at: earliest(...pulls.map(({ event }) => event.firstAt)),
    },
    {
      kind: 'failed launches',
      count: launchLines.length + launchEvents.length,
      evidence: [
        ...launchLines.slice(-1).map((entry) => evidence.log(entry.log, entry.line)),
        ...launchEvents.slice(-1).map((event) => evidence.event(event)),
      ],
      refs: [],
      at: earliest(...launchEvents.map((event) => event.firstAt)),
    },
  ];
  return symptoms.filter((symptom) => symptom.count > 0);
};
