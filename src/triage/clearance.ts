import type { Finding } from '../domain/finding.ts';
import { type Layer, layers } from '../domain/layer.ts';
import type { LayerVerdict } from '../domain/verdict.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { condition, isTrue } from '../facts/conditions.ts';
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
  const because = speakFor[layer](facts, scope, present).filter(Boolean);
  if (because.length > 0) return { layer, status: 'cleared', because: because.join('; ') };
  const own = findings.find((finding) => finding.owner === layer && finding.state === 'fault');
  return {
    layer,
    status: 'unknown',
    missing: own ? own.cause.en : 'nothing that was read speaks for or against it',
    fix: own?.nextSteps[0]?.en ?? whereToLook[layer](facts.subject.namespace),
  };
};

/** What a person reads where nothing that was read tells. */
const whereToLook: Record<Layer, (namespace: string | undefined) => string> = {
  cloud: () => 'see the health page of the vendor for this region',
  platform: () => 'kubectl get pods -n kube-system -o wide',
  app: (namespace) => (namespace ? `kubectl get pods,events -n ${namespace}` : 'kubectl get pods -A'),
};

type Speaker = (facts: ClusterFacts, scope: Scope, present: Family[]) => string[];

/** The facts that speak for each layer's innocence. */
const speakFor: Record<Layer, Speaker> = {
  cloud: (facts, scope) => [controlPlane(facts), nodesReady(scope), instanceChecks(facts, scope)],
  platform: (facts, scope, present) => [
    nodesReady(scope),
    noPressure(scope),
    ...(present.includes('pending') || present.includes('provisioning') ? [poolRoom(facts)] : []),
    systemPods(facts),
  ],
  app: (facts, scope) => [stablePods(scope), unchanged(facts, scope)],
};

const controlPlane = (facts: ClusterFacts): string => {
  const ready = facts.probe('readyz');
  return ready?.status === 200 && ready.latencyMs < 1000
    ? `API server readyz answers 200 in ${ready.latencyMs} ms`
    : '';
};

const nodesReady = (scope: Scope): string =>
  scope.nodes.length > 0 && scope.nodes.every((node) => isTrue(node, 'Ready'))
    ? `${scope.nodes.length === 1 ? 'the node is' : `all ${scope.nodes.length} nodes of the subject are`} Ready`
    : '';

const noPressure = (scope: Scope): string => {
  const clean = scope.nodes.every(
    (node) => !['MemoryPressure', 'DiskPressure', 'PIDPressure'].some((type) => isTrue(node, type)),
  );
  return scope.nodes.length > 0 && clean ? 'no memory, disk or PID pressure there' : '';
};

const instanceChecks = (facts: ClusterFacts, scope: Scope): string => {
  const statuses: any[] = facts.cloud('ec2.describeInstanceStatus')?.InstanceStatuses ?? [];
  const ids = scope.nodes.map((node) => /i-[0-9a-f]+$/.exec(node.spec?.providerID ?? '')?.[0]).filter(Boolean);
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
  return pods.length > 0 && pods.every(isReady) ? `all ${pods.length} running add-on pods are ready` : '';
};

const stablePods = (scope: Scope): string =>
  scope.pods.length > 0 && scope.pods.every((pod) => isReady(pod) && restarts(pod) === 0)
    ? `all ${scope.pods.length} pods of the subject are ready without a restart`
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
