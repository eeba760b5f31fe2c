import type { KubeObject, ObjectRef } from '../../domain/kubernetes.ts';
import { podSpecOf } from '../pods.ts';

/** What a pod, or a workload's template, names in its own namespace: configuration, secrets, claims, its account. */
export const referencesOf = (object: KubeObject): ObjectRef[] => {
  const spec = podSpecOf(object);
  const named = (kind: string, name: string | undefined): [string, string | undefined] => [kind, name];
  const volumes = ((spec.volumes ?? []) as any[]).flatMap((volume) => [
    named('PersistentVolumeClaim', volume.persistentVolumeClaim?.claimName),
    ...[volume, ...(volume.projected?.sources ?? [])].flatMap((source: any) => [
      named('ConfigMap', source.configMap?.name),
      named('Secret', source.secret?.secretName ?? source.secret?.name),
    ]),
  ]);
  const containers: any[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const environment = containers.flatMap((container) => [
    ...((container.envFrom ?? []) as any[]).flatMap((entry) => [
      named('ConfigMap', entry.configMapRef?.name),
      named('Secret', entry.secretRef?.name),
    ]),
    ...((container.env ?? []) as any[]).flatMap((entry) => [
      named('ConfigMap', entry.valueFrom?.configMapKeyRef?.name),
      named('Secret', entry.valueFrom?.secretKeyRef?.name),
    ]),
  ]);
  const found = [...volumes, ...environment, named('ServiceAccount', spec.serviceAccountName)]
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([kind, name]) => ({ kind, name, namespace: object.metadata.namespace }));
  return [...new Map(found.map((ref) => [`${ref.kind}/${ref.name}`, ref])).values()];
};
