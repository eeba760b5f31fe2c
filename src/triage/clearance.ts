import type { Finding } from '../domain/finding.ts';
import type { KubeObject } from '../domain/kubernetes.ts';
import { type Layer, layers } from '../domain/layer.ts';
import type { LayerVerdict } from '../domain/verdict.ts';
import { count } from '../domain/wording.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { condition, isFalse, isNotTrue, isTrue } from '../facts/conditions.ts';
import { isPlatformNamespace } from '../facts/ownership.ts';
import { isReady, restarts } from '../facts/pods.ts';
import { quantity } from '../facts/quantity.ts';
import type { Scope } from '../facts/scope.ts';
import { duration, minutesBetween } from '../facts/time.ts';
import { type Family, familiesOf } from './families.ts';

/** What must have been read before a layer can be cleared of a family: a source's silence never clears. */
const sources: Record<Layer, Partial<Record<Family, string[]>> & { always: string[] }> = {
  cloud: {
    always: ['readyz'],
    node: ['nodes', 'ec2.describeInstanceStatus'],
    provisioning: ['nodeclaims', 'events'],
    pending: ['events'],
    api: ['leases'],
  },
  platform: {
    always: ['nodes'],
    pending: ['nodepools', 'events'],
    provisioning: ['nodepools', 'nodeclaims'],
    node: ['events'],
    starting: ['events'],
    absent: ['events'],
  },
  app: {
    always: ['pods'],
    crash: ['replicasets'],
    unready: ['events'],
    starting: ['events'],
  },
};

/** Sources that exist only on some providers, or only where that component is installed. */
const needed = (facts: ClusterFacts, source: string): boolean => {
  if (source.startsWith('ec2.')) return facts.identity.provider.startsWith('eks');
  if (source === 'nodepools' || source === 'nodeclaims')
    return (
      facts.identity.provider.startsWith('eks') &&
      facts.gapOf(source)?.reason !== 'not-collected' &&
      facts.gapOf(source)?.reason !== 'not-found'
    );
  return true;
};

/**
 * Clears each layer whose sources for these families were read and spoke against it, and names what is missing where
 * one could not be read. A layer with a connected finding of its own is implicated until attribution says otherwise.
 */
export const clearLayers = (facts: ClusterFacts, scope: Scope, findings: Finding[]): LayerVerdict[] => {
  const present = familiesOf(facts, scope);
  return layers.map((layer) => clearLayer(layer, facts, scope, present, findings));
};

const clearLayer = (
  layer: Layer,
  facts: ClusterFacts,
  scope: Scope,
  present: Family[],
  findings: Finding[],
): LayerVerdict => {
  const wanted = [...new Set([...sources[layer].always, ...present.flatMap((family) => sources[layer][family] ?? [])])];
  for (const source of wanted.filter((entry) => needed(facts, entry))) {
    const namespaces = source === 'events' || source === 'pods' || source === 'replicasets' ? scope.namespaces : [];
    const gap =
      namespaces.map((namespace) => facts.gapOf(source, namespace)).find((found) => found) ?? facts.gapOf(source);
    if (gap) return { layer, status: 'unknown', missing: gap.message, fix: gap.fix };
  }
  const nodes = nodesInPlay(facts, scope, findings);
  const because = speakFor[layer](facts, scope, nodes, present).filter(Boolean);
  if (because.length > 0) return { layer, status: 'cleared', because: because.join('; ') };
  const own = findings.find((finding) => finding.owner === layer && finding.state === 'fault');
  if (own)
    return {
      layer,
      status: 'unknown',
      missing: own.cause.en,
      fix: own.nextSteps[0]?.en ?? whereToLook[layer](facts.subject.namespace),
    };
  return {
    layer,
    status: 'unknown',
    missing: `no rule finds a fault of its own, and ${doubtOf[layer](facts, scope, nodes)}`,
    fix: whereToLook[layer](facts.subject.namespace),
    silent: true,
  };
};

/** Nodes of the subject, and those that a connected finding is about: what harms a node elsewhere may be the cause. */
const nodesInPlay = (facts: ClusterFacts, scope: Scope, findings: Finding[]): KubeObject[] => {
  const named = findings
    .flatMap(({ root, affects }) => (affects === 'cluster' ? [root] : [root, ...affects]))
    .flatMap((ref) => (ref.kind === 'Node' ? (facts.find('Node', ref.name) ?? []) : []));
  return [...new Set([...scope.nodes, ...named])];
};

/** Why a layer without a fault of its own is not cleared either. */
const doubtOf: Record<Layer, (facts: ClusterFacts, scope: Scope, nodes: KubeObject[]) => string> = {
  cloud: (facts, _scope, nodes) => {
    const ready = facts.probe('readyz');
    if (ready && ready.status !== 200) return `readyz of the API server answers ${ready.status}`;
    return unready(nodes) || 'nothing that was read shows the health of its machines';
  },
  platform: (_facts, _scope, nodes) =>
    unready(nodes) || 'no node of the subject and no add-on pod that was read shows its health',
  app: (_facts, { pods, troubledPods, workloads }) => {
    if (pods.length === 0)
      return workloads.length > 0 ? 'its workload has no pod' : 'the incident is about no one application';
    const troubled = troubledPods.length;
    return troubled > 0
      ? `${troubled} of ${count(pods.length, 'pod')} ${troubled === 1 ? 'is' : 'are'} in trouble`
      : 'its pods restarted, or were released, within a day';
  },
};

const unready = (nodes: KubeObject[]): string => {
  const down = nodes.filter((node) => isNotTrue(node, 'Ready')).length;
  return down > 0 ? `${down} of ${count(nodes.length, 'node')} ${down === 1 ? 'is' : 'are'} not Ready` : '';
};

/** What a person reads where nothing that was read tells. */
const whereToLook: Record<Layer, (namespace: string | undefined) => string> = {
  cloud: () => 'see the health page of the vendor for this region',
  platform: () => 'kubectl get pods -n kube-system -o wide',
  app: (namespace) => (namespace ? `kubectl get pods,events -n ${namespace}` : 'kubectl get pods -A'),
};

type Speaker = (facts: ClusterFacts, scope: Scope, nodes: KubeObject[], present: Family[]) => string[];

/** The facts that speak for each layer's innocence. */
const speakFor: Record<Layer, Speaker> = {
  cloud: (facts, _scope, nodes) => [controlPlane(facts), nodesReady(nodes), instanceChecks(facts, nodes)],
  platform: (facts, _scope, nodes, present) => [
    nodesReady(nodes),
    noPressure(nodes),
    ...(present.includes('pending') || present.includes('provisioning') ? [poolRoom(facts)] : []),
    systemPods(facts),
  ],
  app: (facts, scope) => [stablePods(scope), unchanged(facts, scope)],
};

/** `the one node is`, `all 3 nodes are`. */
const every = (number: number, noun: string): string =>
  number === 1 ? `the one ${noun} is` : `all ${number} ${noun}s are`;

const controlPlane = (facts: ClusterFacts): string => {
  const ready = facts.probe('readyz');
  return ready?.status === 200 && ready.latencyMs < 1000
    ? `API server readyz answers 200 in ${ready.latencyMs} ms`
    : '';
};

const nodesReady = (nodes: KubeObject[]): string =>
  nodes.length > 0 && nodes.every((node) => isTrue(node, 'Ready')) ? `${every(nodes.length, 'node')} Ready` : '';

const noPressure = (nodes: KubeObject[]): string => {
  const clean = nodes.every((node) =>
    ['MemoryPressure', 'DiskPressure', 'PIDPressure'].every((type) => isFalse(node, type)),
  );
  return nodes.length > 0 && clean
    ? `no memory, disk or PID pressure on ${nodes.length === 1 ? 'the node' : 'these nodes'}`
    : '';
};

const instanceChecks = (facts: ClusterFacts, nodes: KubeObject[]): string => {
  const statuses: any[] = facts.cloud('ec2.describeInstanceStatus')?.InstanceStatuses ?? [];
  const ids = nodes.map((node) => /i-[0-9a-f]+$/.exec(node.spec?.providerID ?? '')?.[0]).filter(Boolean);
  const own = statuses.filter((status) => ids.includes(status.InstanceId));
  const ok = own.every((status) => status.SystemStatus?.Status === 'ok' && status.InstanceStatus?.Status === 'ok');
  return own.length > 0 && ok
    ? `EC2 status checks pass for ${own.length === 1 ? 'its instance' : `its ${own.length} instances`}`
    : '';
};

const poolRoom = (facts: ClusterFacts): string => {
  const pools = facts.all('NodePool').filter((pool) => isTrue(pool, 'Ready'));
  const roomy = pools.filter((pool) =>
    Object.entries(pool.spec?.limits ?? {}).every(
      ([key, limit]) => quantity(pool.status?.resources?.[key]) < 0.95 * quantity(limit as string),
    ),
  );
  return roomy.length > 0
    ? `NodePool ${roomy.map((pool) => pool.metadata.name).join(', ')} ready and below limits`
    : '';
};

const systemPods = (facts: ClusterFacts): string => {
  const pods = facts
    .all('Pod')
    .filter((pod) => isPlatformNamespace(pod.metadata.namespace ?? '') && pod.status?.phase === 'Running');
  return pods.length > 0 && pods.every(isReady) ? `${every(pods.length, 'running add-on pod')} ready` : '';
};

const stablePods = (scope: Scope): string =>
  scope.pods.length > 0 && scope.pods.every((pod) => isReady(pod) && restarts(pod) === 0)
    ? `${every(scope.pods.length, 'pod')} ready without a restart`
    : '';

const unchanged = (facts: ClusterFacts, scope: Scope): string => {
  const sets = scope.workloads.flatMap((workload) =>
    facts.childrenOf(workload).filter((child) => child.kind === 'ReplicaSet'),
  );
  const newest = sets
    .map((set) => set.metadata.creationTimestamp ?? '')
    .sort()
    .at(-1);
  const available = scope.workloads.every((workload) => condition(workload, 'Progressing')?.status !== 'False');
  const age = minutesBetween(newest, facts.now);
  return newest && available && age > 24 * 60 ? `no rollout for ${duration(age)}` : '';
};
