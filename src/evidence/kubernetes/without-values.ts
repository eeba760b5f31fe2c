import type { KubeObject } from '../../domain/kubernetes.ts';
import { keepsValues } from '../../triage/resources.ts';

/** What a release is rendered with: names of charts and revisions tell, the values may be credentials. */
const renderedWith = new Set(['helm', 'kustomize', 'plugin', 'values', 'valuesObject', 'parameters']);

const lengths = (values: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, `${String(value).length} characters, not kept`]),
  );

const pruned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (renderedWith.has(key) ? [] : [[key, pruned(inner)]])),
  );
};

/**
 * What people write into a ConfigMap or a release's values stays where it is. An application's ConfigMap keeps its keys
 * and the lengths of their values; an Argo CD Application or a Flux HelmRelease all but what it is rendered with.
 */
export function withoutValues(object: KubeObject): KubeObject {
  if (object.kind === 'ConfigMap' && !keepsValues(object.metadata)) {
    const { data, binaryData } = object;
    return { ...object, ...(data && { data: lengths(data) }), ...(binaryData && { binaryData: lengths(binaryData) }) };
  }
  if (object.kind !== 'Application' && object.kind !== 'HelmRelease') return object;
  return { ...object, spec: pruned(object.spec), status: pruned(object.status) };
}
