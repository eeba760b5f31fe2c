import type { KubeObject } from '../domain/kubernetes.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { parseObject } from '../routing/root.ts';

/** An affected machine as both sides name it. Empty where the facts do not tell. */
export interface Machine {
  node: string;
  instance: string;
  type: string;
  zone: string;
  zoneId: string;
  image: string;
  kubelet: string;
  kernel: string;
  runtime: string;
  pool: string;
  capacity: string;
  /** `Ready=Unknown since 2026-11-20T08:19:00Z (NodeStatusUnknown)`. */
  ready: string;
  created: string;
}

const poolLabels = [
  'karpenter.sh/nodepool',
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'alibabacloud.com/nodepool-id',
  'kops.k8s.io/instancegroup',
];
const capacityLabels = [
  'karpenter.sh/capacity-type',
  'eks.amazonaws.com/capacityType',
  'cloud.google.com/gke-preemptible',
];

const first = (labels: Record<string, string> | undefined, keys: string[]): string =>
  keys.map((key) => labels?.[key]).find(Boolean) ?? '';

/** Machines that the chain or the evidence names, by node, by claim or by instance id; else those of the pods it names. */
export const machinesIn = (
  verdict: Verdict,
  facts: ClusterFacts,
  instanceIds: string[],
  zoneIds: Map<string, string>,
): Machine[] => {
  const refs = [...verdict.chain, ...verdict.evidence]
    .map(({ object, uid }) => parseObject(object, uid))
    .filter((ref) => ref !== null);
  const byInstance = facts.all('Node').filter((node) => instanceIds.includes(instanceOf(node)));
  const named = refs.flatMap((ref) => {
    if (ref.kind === 'Node') return [facts.resolve(ref)];
    const claim = ref.kind === 'NodeClaim' ? facts.resolve(ref) : undefined;
    return [claim ? (facts.find('Node', claim.status?.nodeName) ?? claim) : undefined];
  });
  const hosts = refs
    .filter(({ kind }) => kind === 'Pod')
    .map((ref) => facts.find('Node', facts.resolve(ref)?.spec?.nodeName));
  const known = (objects: (KubeObject | undefined)[]): KubeObject[] => [
    ...new Set(objects.filter((object) => object !== undefined)),
  ];
  const machines = known([...byInstance, ...named]);
  return (machines.length > 0 ? machines : known(hosts)).map((object) => machineOf(object, facts, zoneIds));
};

const instanceOf = (object: KubeObject): string => {
  const id: string = object.spec?.providerID ?? object.status?.providerID ?? '';
  return id.match(/i-[0-9a-z]{8,}$/)?.[0] ?? id.split('/').at(-1) ?? '';
};

const machineOf = (object: KubeObject, facts: ClusterFacts, zoneIds: Map<string, string>): Machine => {
  const { labels, name, creationTimestamp } = object.metadata;
  const info = object.status?.nodeInfo ?? {};
  const claim = object.kind === 'NodeClaim' ? object : facts.claimOf(object);
  const zone = labels?.['topology.kubernetes.io/zone'] ?? '';
  const ready = object.status?.conditions?.find((condition: any) => condition.type === 'Ready');
  return {
    node: name,
    instance: instanceOf(object) || claim?.status?.providerID?.split('/').at(-1) || '',
    type: labels?.['node.kubernetes.io/instance-type'] ?? '',
    zone,
    zoneId: zoneIds.get(zone) ?? '',
    image: claim?.status?.imageID ?? labels?.['kubernetes.azure.com/node-image-version'] ?? info.osImage ?? '',
    kubelet: info.kubeletVersion ?? '',
    kernel: info.kernelVersion ?? '',
    runtime: info.containerRuntimeVersion ?? '',
    pool: first(labels, poolLabels),
    capacity: first(labels, capacityLabels),
    ready: ready ? `Ready=${ready.status} since ${ready.lastTransitionTime ?? 'unknown'} (${ready.reason ?? ''})` : '',
    created: creationTimestamp ?? '',
  };
};
