import type { Subject } from '../domain/alert.ts';
import { type KubeObject, keyOf, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import type { ClusterFacts } from './cluster.ts';
import { isTroubled } from './pods.ts';
import { selects } from './selectors.ts';

/** What the incident is about, found through object relations: what a cause must reach to count. */
export interface Scope {
  /** The subject is the whole cluster: everything is in scope, and nothing in particular. */
  wide: boolean;
  subjects: Subject[];
  namespaces: string[];
  workloads: KubeObject[];
  pods: KubeObject[];
  /** Pods of the scope that are not what their owner wants. */
  troubledPods: KubeObject[];
  /** Nodes the subject names or its pods run on. */
  nodes: KubeObject[];
  /** Nodes that a subject itself is, or that belong to a subject's pool. */
  subjectNodes: KubeObject[];
  claims: KubeObject[];
  pools: KubeObject[];
  has(ref: ObjectRef): boolean;
}

const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'ReplicaSet'];

export const scopeOf = (facts: ClusterFacts): Scope => {
  const seeds = facts.subjects.flatMap((subject) => seedsOf(facts, subject));
  const wide = facts.subjects.some((subject) => subject.kind === 'Cluster');
  const keys = new Set(facts.subjects.filter((subject) => subject.name).map((subject) => keyOf(subjectRef(subject))));

  const workloads = unique(
    seeds.filter((object) => workloadKinds.includes(object.kind)).map((o) => facts.workloadOf(o)),
  );
  const pods = unique([
    ...workloads.flatMap((workload) => facts.podsOf(workload)),
    ...seeds.filter((object) => object.kind === 'Pod'),
  ]);
  const pools = unique(seeds.filter((object) => object.kind === 'NodePool'));
  const poolNames = pools.map((pool) => pool.metadata.name);
  const inPool = (object: KubeObject): boolean =>
    poolNames.includes(object.metadata.labels?.['karpenter.sh/nodepool'] ?? '');
  const subjectNodes = unique([
    ...seeds.filter((object) => object.kind === 'Node'),
    ...facts.all('Node').filter(inPool),
  ]);
  const podNodes = pods.map((pod) => facts.nodeOf(pod)).filter((node) => node !== undefined);
  const nodes = unique([...subjectNodes, ...podNodes]);
  const claims = unique([
    ...seeds.filter((object) => object.kind === 'NodeClaim'),
    ...facts.all('NodeClaim').filter(inPool),
    ...nodes.map((node) => facts.claimOf(node)).filter((claim) => claim !== undefined),
  ]);
  const nodePods = subjectNodes.flatMap((node) => facts.podsOn(node.metadata.name));

  const members = [
    ...seeds,
    ...workloads,
    ...pods,
    ...pods.flatMap((pod) => facts.ownerChain(pod)),
    ...nodes,
    ...claims,
    ...pools,
    ...nodePods,
  ];
  for (const object of members) keys.add(keyOf(refOf(object)));
  for (const pod of pods) for (const related of relatedTo(facts, pod)) keys.add(keyOf(related));

  return {
    wide,
    subjects: facts.subjects,
    namespaces: [...new Set([...pods, ...workloads].map((object) => object.metadata.namespace ?? ''))].filter(Boolean),
    workloads,
    pods,
    troubledPods: pods.filter(isTroubled),
    nodes,
    subjectNodes,
    claims,
    pools,
    has: (ref) => wide || keys.has(keyOf(ref)),
  };
};

const subjectRef = (subject: Subject): ObjectRef => ({
  kind: subject.kind,
  name: subject.name ?? '',
  namespace: subject.kind === 'Namespace' ? undefined : subject.namespace,
});

/** The objects a subject stands for: itself, and what it selects, scales or serves. */
const seedsOf = (facts: ClusterFacts, subject: Subject): KubeObject[] => {
  const namespace = subject.namespace;
  const own = facts.find(subject.kind, subject.name, subject.kind === 'Namespace' ? undefined : namespace);
  const self = own ? [own] : [];
  switch (subject.kind) {
    case 'Pod':
      return own ? [own, facts.workloadOf(own)] : workloadByPodName(facts, subject);
    case 'HorizontalPodAutoscaler':
    case 'ScaledObject': {
      const target = own?.spec?.scaleTargetRef;
      const workload = facts.find(target?.kind ?? 'Deployment', target?.name, namespace);
      return workload ? [...self, workload] : self;
    }
    case 'PodDisruptionBudget':
      return [...self, ...selectedWorkloads(facts, namespace, own?.spec?.selector)];
    case 'Service':
      return [...self, ...serviceBackends(facts, subject, own)];
    case 'Ingress':
      return [...self, ...ingressBackends(facts, namespace, own)];
    case 'PersistentVolumeClaim':
      return [
        ...self,
        ...facts
          .in('Pod', namespace ?? '')
          .filter((pod) => mounts(pod, subject.name))
          .map((pod) => facts.workloadOf(pod)),
      ];
    case 'ResourceQuota':
    case 'Namespace':
      return [...self, ...namespaceWorkloads(facts, namespace ?? subject.name ?? '')];
    case 'NodeClaim': {
      const node = facts.find('Node', own?.status?.nodeName);
      return node ? [...self, node] : self;
    }
    default:
      return self;
  }
};

/** A pod that is gone leaves its workload behind: the pod's name starts with the workload's. */
const workloadByPodName = (facts: ClusterFacts, subject: Subject): KubeObject[] =>
  workloadKinds
    .filter((kind) => kind !== 'ReplicaSet')
    .flatMap((kind) => facts.in(kind, subject.namespace ?? ''))
    .filter((workload) => subject.name?.startsWith(`${workload.metadata.name}-`))
    .sort((a, b) => b.metadata.name.length - a.metadata.name.length)
    .slice(0, 1);

/**
 * A namespace-wide alert often names its workload in words only. The workloads it names, else all of the namespace.
 */
const namespaceWorkloads = (facts: ClusterFacts, namespace: string): KubeObject[] => {
  const all = [
    ...workloadKinds.filter((kind) => kind !== 'ReplicaSet').flatMap((kind) => facts.in(kind, namespace)),
    ...facts.in('Pod', namespace).filter((pod) => !pod.metadata.ownerReferences?.length),
  ].filter((object) => !(object.kind === 'Job' && object.metadata.ownerReferences?.length));
  const words = facts.alerts
    .map((alert) => Object.values({ ...alert.labels, ...alert.annotations }).join(' '))
    .join(' ');
  const named = all.filter((object) => namesWorkload(words, namespace, object.metadata.name));
  return named.length > 0 ? named : all;
};

const namesWorkload = (words: string, namespace: string, name: string): boolean => {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return (
    new RegExp(`(^|[^\\w-])(${namespace}/)?${escaped}([^\\w-]|$)`).test(words) &&
    (name !== namespace || words.includes(`${namespace}/${name}`) || words.includes(`"${name}"`))
  );
};

/** A Service that is not there, or selects nothing, still bears the name of what should stand behind it. */
const serviceBackends = (facts: ClusterFacts, subject: Subject, service: KubeObject | undefined): KubeObject[] => {
  const namespace = subject.namespace ?? '';
  const selected = selectedWorkloads(
    facts,
    namespace,
    service?.spec?.selector && { matchLabels: service.spec.selector },
  );
  if (selected.length > 0) return selected;
  const namesakes = workloadKinds
    .map((kind) => facts.find(kind, subject.name, namespace))
    .filter((it) => it !== undefined);
  return namesakes.length > 0 ? namesakes : namespaceWorkloads(facts, namespace);
};

const selectedWorkloads = (facts: ClusterFacts, namespace: string | undefined, selector: unknown): KubeObject[] =>
  selector
    ? facts
        .in('Pod', namespace ?? '')
        .filter((pod) => selects(selector, pod.metadata.labels))
        .map((pod) => facts.workloadOf(pod))
    : [];

const ingressBackends = (
  facts: ClusterFacts,
  namespace: string | undefined,
  ingress: KubeObject | undefined,
): KubeObject[] => {
  const services = ingress
    ? [
        ingress.spec?.defaultBackend?.service?.name,
        ...(ingress.spec?.rules ?? []).flatMap((rule: any) =>
          (rule.http?.paths ?? []).map((path: any) => path.backend?.service?.name),
        ),
      ]
    : [];
  const backends = services
    .map((name: string | undefined) => facts.find('Service', name, namespace))
    .filter((service) => service !== undefined);
  // An Ingress that could not be read still lies in a namespace whose workloads it can serve.
  return ingress
    ? backends.flatMap((service) => [
        service,
        ...selectedWorkloads(facts, namespace, { matchLabels: service.spec?.selector }),
      ])
    : namespaceWorkloads(facts, namespace ?? '');
};

const mounts = (pod: KubeObject, claim: string | undefined): boolean =>
  (pod.spec?.volumes ?? []).some((volume: any) => volume.persistentVolumeClaim?.claimName === claim);

/** Objects a pod depends on by reference. */
const relatedTo = (facts: ClusterFacts, pod: KubeObject): ObjectRef[] => {
  const namespace = pod.metadata.namespace;
  const claims = (pod.spec?.volumes ?? [])
    .map((volume: any) => volume.persistentVolumeClaim?.claimName)
    .filter(Boolean);
  const selecting = ['PodDisruptionBudget'].flatMap((kind) =>
    facts
      .in(kind, namespace ?? '')
      .filter((object) => object.spec?.selector && selects(object.spec.selector, pod.metadata.labels)),
  );
  const workload = facts.workloadOf(pod);
  const scalers = facts
    .in('HorizontalPodAutoscaler', namespace ?? '')
    .filter((hpa) => hpa.spec?.scaleTargetRef?.name === workload.metadata.name);
  return [
    ...claims.flatMap((name: string) => {
      const volume = facts.find('PersistentVolumeClaim', name, namespace)?.spec?.volumeName;
      return [
        { kind: 'PersistentVolumeClaim', name, namespace },
        ...(volume ? [{ kind: 'PersistentVolume', name: volume }] : []),
      ];
    }),
    ...[...facts.servicesOf(pod), ...selecting, ...scalers].map(refOf),
  ];
};

const unique = (objects: KubeObject[]): KubeObject[] => [
  ...new Map(objects.map((object) => [keyOf(refOf(object)), object])).values(),
];
