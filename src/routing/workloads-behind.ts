import type { KubeObject, ObjectRef } from '../domain/kubernetes.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { selects } from '../facts/selectors.ts';

/**
 * The objects whose labels speak for a target, innermost first: the object itself, its owners (Pod → ReplicaSet →
 * Deployment, Job → CronJob), and for what only serves a workload (an HPA, a Service, a PDB, a claim) that workload.
 */
export const workloadsBehind = (facts: ClusterFacts, target: ObjectRef): KubeObject[] => {
  if (target.kind === 'Namespace' || target.kind === 'Cluster') return [];
  const object = facts.resolve(target) ?? standIn(target);
  const own = facts.ownerChain(object).filter(({ kind }) => kind !== 'Node');
  const served = servedBy(facts, object);
  return unique([...own, ...(served ? facts.ownerChain(served) : [])]);
};

/** An object that is named and was not read: its name is still good for the directory's entries. */
const standIn = ({ apiVersion, kind, name, namespace, uid }: ObjectRef): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace, uid },
});

const servedBy = (facts: ClusterFacts, object: KubeObject): KubeObject | undefined => {
  const namespace = object.metadata.namespace ?? '';
  if (object.kind === 'HorizontalPodAutoscaler') {
    const { kind, name } = object.spec?.scaleTargetRef ?? {};
    return kind && name ? facts.resolve({ kind, name, namespace }) : undefined;
  }
  if (object.kind === 'Service' && object.spec?.selector)
    return podSelectedBy(facts, namespace, { matchLabels: object.spec.selector });
  if (object.kind === 'PodDisruptionBudget' && object.spec?.selector)
    return podSelectedBy(facts, namespace, object.spec.selector);
  if (object.kind === 'PersistentVolumeClaim') {
    return facts
      .in('Pod', namespace)
      .find((pod) =>
        pod.spec?.volumes?.some((volume: any) => volume.persistentVolumeClaim?.claimName === object.metadata.name),
      );
  }
  return undefined;
};

const podSelectedBy = (facts: ClusterFacts, namespace: string, selector: any): KubeObject | undefined =>
  facts.in('Pod', namespace).find((pod) => selects(selector, pod.metadata.labels));

const unique = (objects: KubeObject[]): KubeObject[] => [
  ...new Map(
    objects.map((object) => [`${object.kind}/${object.metadata.namespace}/${object.metadata.name}`, object]),
  ).values(),
];
