import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';
import { isTerminating, isUnscheduled, podSpecOf } from '../pods.ts';
import { matches, type Taint, tolerates } from '../selectors.ts';

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** Why a pool or node cannot take a pod: the pod's wish, and what stands against it. */
export interface Misfit {
  kind: 'unknown-label' | 'requirement' | 'taint';
  key: string;
  wanted: string;
  offered: string;
}

/** Labels that a pool need not state: the controller fills them in from the instance types it may choose. */
const filledIn =
  /^(karpenter\.(sh|k8s\.aws|azure\.com)\/|eks\.amazonaws\.com\/instance-|topology\.|failure-domain\.|kubernetes\.io\/(arch|os|hostname)$|node\.kubernetes\.io\/|beta\.kubernetes\.io\/)/;

/** Zone labels of the usual storage drivers, which mean the node's zone. */
const zoneKeys =
  /^(topology\.(ebs\.csi\.aws\.com|disk\.csi\.azure\.com|gke\.io|diskplugin\.csi\.alibabacloud\.com|kubernetes\.io)|failure-domain\.beta\.kubernetes\.io)\/zone$/;
export const zoneLabel = 'topology.kubernetes.io/zone';

/** What a pod template asks of nodes, as alternatives: nodeSelector holds in each term of the required affinity. */
export const requirementsOf = (workload: KubeObject): Requirement[][] => {
  const spec = podSpecOf(workload);
  const plain = Object.entries<string>(spec?.nodeSelector ?? {}).map(([key, value]) => only(key, value));
  const terms: any[] =
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const alternatives = terms.length > 0 ? terms.map((term) => term.matchExpressions ?? []) : [[]];
  return alternatives.map((term) => [...plain, ...term]);
};

const only = (key: string, value: string): Requirement => ({ key, operator: 'In', values: [value] });

/** Persistent volumes that a pod's claims are bound to. */
export const volumesOf = (facts: ClusterFacts, pod: KubeObject): { claim: KubeObject; volume?: KubeObject }[] =>
  (pod.spec?.volumes ?? [])
    .map((entry: any) =>
      facts.find('PersistentVolumeClaim', entry.persistentVolumeClaim?.claimName, pod.metadata.namespace),
    )
    .filter((claim: KubeObject | undefined) => claim !== undefined)
    .map((claim: KubeObject) => ({ claim, volume: facts.find('PersistentVolume', claim.spec?.volumeName) }));

/** Zones that a volume can be attached in; empty where it is bound to none. */
export const zonesOfVolume = (volume: KubeObject | undefined): string[] => [
  ...new Set(
    (volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term: any) =>
      (term.matchExpressions ?? [])
        .filter((entry: any) => zoneKeys.test(entry.key) && entry.operator === 'In')
        .flatMap((entry: any) => entry.values ?? []),
    ) as string[],
  ),
];

/** Zones that the pod's volumes allow; undefined where any zone will do. */
export const volumeZones = (facts: ClusterFacts, pod: KubeObject): string[] | undefined => {
  const bound = volumesOf(facts, pod)
    .map(({ volume }) => zonesOfVolume(volume))
    .filter((zones) => zones.length > 0);
  return bound.length > 0 ? bound.reduce((left, right) => left.filter((zone) => right.includes(zone))) : undefined;
};

/** What a NodePool gives its nodes: template labels, requirements, its own name. */
const offersOf = (pool: KubeObject): Requirement[] => [
  ...Object.entries<string>(pool.spec?.template?.metadata?.labels ?? {}).map(([key, value]) => only(key, value)),
  ...(pool.spec?.template?.spec?.requirements ?? []),
  only('karpenter.sh/nodepool', pool.metadata.name),
];

/** The least set of reasons why a NodePool's nodes could never take this pod; empty where they could. */
export const misfitsOf = (facts: ClusterFacts, pod: KubeObject, pool: KubeObject): Misfit[] => {
  const zones = volumeZones(facts, pod);
  const offers = offersOf(pool);
  const taints: Taint[] = pool.spec?.template?.spec?.taints ?? [];
  const alternatives = requirementsOf(pod).map((requirements) =>
    [...requirements, ...(zones ? [{ key: zoneLabel, operator: 'In', values: zones }] : [])].flatMap((wish) =>
      misfit(wish, offers),
    ),
  );
  return [...smallest(alternatives), ...untolerated(pod, taints)];
};

const misfit = (wish: Requirement, offers: Requirement[]): Misfit[] => {
  const own = offers.filter((offer) => offer.key === wish.key);
  const base = { key: wish.key, wanted: describe(wish), offered: own.map(describe).join(' and ') };
  if (own.length === 0)
    return filledIn.test(wish.key) || wish.operator === 'NotIn' || wish.operator === 'DoesNotExist'
      ? []
      : [{ kind: 'unknown-label', ...base, offered: 'no such label' }];
  return own.every((offer) => overlap(wish, offer)) ? [] : [{ kind: 'requirement', ...base }];
};

/** Two requirements on one key can both hold; what cannot be listed (Gt, Lt, NotIn) is given the benefit of the doubt. */
const overlap = (wish: Requirement, offer: Requirement): boolean => {
  if (offer.operator === 'In') return (offer.values ?? []).some((value) => matches(wish, value));
  if (wish.operator === 'In') return (wish.values ?? []).some((value) => matches(offer, value));
  if (wish.operator === 'DoesNotExist') return offer.operator === 'DoesNotExist' || offer.operator === 'NotIn';
  return offer.operator !== 'DoesNotExist';
};

const describe = (requirement: Requirement): string =>
  `${requirement.key} ${requirement.operator}${requirement.values ? ` [${requirement.values.join(' ')}]` : ''}`;

const smallest = (lists: Misfit[][]): Misfit[] => [...lists].sort((a, b) => a.length - b.length)[0] ?? [];

const untolerated = (pod: KubeObject, taints: Taint[]): Misfit[] =>
  taints
    .filter((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(podSpecOf(pod)?.tolerations, taint))
    .map((taint) => ({
      kind: 'taint',
      key: taint.key,
      wanted: 'no toleration',
      offered: `${taint.key}${taint.value ? `=${taint.value}` : ''}:${taint.effect}`,
    }));

/** Why one existing node's labels and taints exclude a pod; resources aside. */
export const nodeMisfits = (facts: ClusterFacts, pod: KubeObject, node: KubeObject): Misfit[] => {
  const labels = node.metadata.labels ?? {};
  const zones = volumeZones(facts, pod);
  const alternatives = requirementsOf(pod).map((requirements) =>
    [...requirements, ...(zones ? [{ key: zoneLabel, operator: 'In', values: zones }] : [])]
      .filter((wish) => !matches(wish, labels[wish.key]))
      .map((wish): Misfit => {
        const value = labels[wish.key];
        return {
          kind: value === undefined ? 'unknown-label' : 'requirement',
          key: wish.key,
          wanted: describe(wish),
          offered: value ?? 'no such label',
        };
      }),
  );
  return [...smallest(alternatives), ...untolerated(pod, node.spec?.taints ?? [])];
};

/** NodePools whose nodes could take this pod by labels, zones and taints: only their state counts for it. */
export const candidatePools = (facts: ClusterFacts, pod: KubeObject): KubeObject[] =>
  facts.all('NodePool').filter((pool) => misfitsOf(facts, pod, pool).length === 0);

/** Pods that no node has taken, whatever the reason. */
export const waitingPods = onceFor((facts: ClusterFacts): KubeObject[] =>
  facts.all('Pod').filter((pod) => isUnscheduled(pod) && !isTerminating(pod)),
);

export const waitingFor = (facts: ClusterFacts, pool: KubeObject): KubeObject[] =>
  waitingPods(facts).filter((pod) => misfitsOf(facts, pod, pool).length === 0);

export const claimsOfPool = (facts: ClusterFacts, pool: KubeObject): KubeObject[] =>
  facts.all('NodeClaim').filter((claim) => poolNameOf(claim) === pool.metadata.name);

export const poolNameOf = (object: KubeObject): string | undefined =>
  object.metadata.labels?.['karpenter.sh/nodepool'] ??
  object.metadata.ownerReferences?.find((reference) => reference.kind === 'NodePool')?.name;

export const poolOf = (facts: ClusterFacts, object: KubeObject): KubeObject | undefined =>
  facts.find('NodePool', poolNameOf(object));

/** The EC2NodeClass, NodeClass or AKSNodeClass a pool or claim refers to. */
export const nodeClassOf = (facts: ClusterFacts, object: KubeObject | undefined): KubeObject | undefined => {
  const reference = object?.spec?.template?.spec?.nodeClassRef ?? object?.spec?.nodeClassRef;
  if (!reference) return undefined;
  const kinds = reference.kind ? [reference.kind] : ['EC2NodeClass', 'NodeClass', 'AKSNodeClass'];
  return kinds.map((kind) => facts.find(kind, reference.name)).find((found) => found !== undefined);
};

/** When and by what an object's spec was last written, where managed fields tell. */
export const lastWrite = (object: KubeObject): { manager: string; time: string } | undefined => {
  const writes = (object.metadata.managedFields ?? [])
    .filter((entry) => entry.time && entry.subresource !== 'status' && !/^karpenter$/.test(entry.manager ?? ''))
    .sort((a, b) => (a.time! < b.time! ? -1 : 1));
  const last = writes.at(-1);
  return last ? { manager: last.manager ?? 'unknown', time: last.time! } : undefined;
};
