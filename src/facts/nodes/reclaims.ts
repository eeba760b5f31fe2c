import type { Evidence } from '../../domain/evidence.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { instanceIdOf, trailOf } from '../aws.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { isSilent, isSpot } from './nodes.ts';

/** A spot instance that the vendor took back. */
export interface Reclaim {
  instance: string;
  node?: KubeObject;
  at?: string;
  /** The controller heard of it: an interruption event or a drain came before the end. */
  announced: boolean;
  cite(evidence: Cite): Evidence;
}

const announcements =
  /^(SpotInterrupted|TerminatingOnInterruption|SpotInterruption|DisruptionTerminating|CordonAndDrain)$/;

/** Reclaims that the vendor itself reports: in the instance's state reason, its spot request, or the trail. */
export const reclaims = (facts: ClusterFacts): Reclaim[] => {
  const found = new Map<string, Omit<Reclaim, 'node' | 'announced' | 'instance'>>();
  for (const source of [byState(facts), byRequest(facts), byTrail(facts)])
    for (const [instance, entry] of source) if (!found.has(instance)) found.set(instance, entry);
  return [...found].map(([instance, entry]) => {
    const node = nodeOf(facts, instance, [...found.keys()]);
    return { instance, node, announced: announced(facts, instance, node), ...entry };
  });
};

type Found = [string, Omit<Reclaim, 'node' | 'announced' | 'instance'>];

const byState = (facts: ClusterFacts): Found[] =>
  ((facts.cloud('ec2.describeInstances')?.Reservations ?? []) as any[])
    .flatMap((reservation) => reservation.Instances ?? [])
    .filter((instance) =>
      /SpotInstanceTermination|SpotInstanceShutdown/.test(
        `${instance.StateReason?.Code} ${instance.StateTransitionReason}`,
      ),
    )
    .map(
      (instance): Found => [
        instance.InstanceId,
        {
          at: /\d{4}-\d\d-\d\dT[\d:]+Z/.exec(instance.StateTransitionReason ?? '')?.[0],
          cite: (evidence) =>
            evidence.aws(
              'ec2.describeInstances',
              `${instance.InstanceId} StateReason`,
              instance.StateReason?.Code,
              instance.StateReason?.Message ?? instance.StateTransitionReason ?? '',
            ),
        },
      ],
    );

const byRequest = (facts: ClusterFacts): Found[] =>
  ((facts.cloud('ec2.describeSpotInstanceRequests')?.SpotInstanceRequests ?? []) as any[])
    .filter((request) =>
      /instance-terminated-(by-price|no-capacity|capacity)|marked-for-termination/.test(request.Status?.Code ?? ''),
    )
    .map(
      (request): Found => [
        request.InstanceId,
        {
          at: request.Status?.UpdateTime,
          cite: (evidence) =>
            evidence.aws(
              'ec2.describeSpotInstanceRequests',
              `${request.InstanceId} Status`,
              request.Status?.Code,
              request.Status?.Message ?? '',
              request.Status?.UpdateTime,
            ),
        },
      ],
    );

const byTrail = (facts: ClusterFacts): Found[] =>
  trailOf(facts)
    .filter((event) => event.name === 'BidEvictedEvent')
    .flatMap((event) =>
      [...event.text.matchAll(/i-[0-9a-f]{8,17}/g)].map(
        (match): Found => [
          match[0],
          {
            at: event.at,
            cite: (evidence) =>
              evidence.aws(
                'cloudtrail.lookupEvents',
                'BidEvictedEvent',
                match[0],
                `by ${event.arn || event.actor}`,
                event.at,
              ),
          },
        ],
      ),
    );

/** The node by instance id; else the one silent spot node that no instance of the cloud's answers stands for. */
const nodeOf = (facts: ClusterFacts, instance: string, reclaimed: string[]): KubeObject | undefined => {
  const byId = facts.all('Node').find((node) => instanceIdOf(node) === instance);
  if (byId) return byId;
  const lost = facts.all('Node').filter((node) => isSilent(node) && isSpot(node));
  return lost.length === 1 && reclaimed.length === 1 ? lost[0] : undefined;
};

const announced = (facts: ClusterFacts, instance: string, node: KubeObject | undefined): boolean => {
  const claim =
    (node && facts.claimOf(node)) ??
    facts.all('NodeClaim').find((entry) => entry.status?.providerID?.endsWith(instance));
  return [node, claim]
    .filter((object) => object !== undefined)
    .some((object) => facts.eventsAbout(object).some((event) => announcements.test(event.reason)));
};
