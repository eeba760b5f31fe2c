import type { KubeObject } from '../../domain/kubernetes.ts';

/** Field sets longer than this name nothing that triage reads; the writer and its time are kept. */
const maxFieldSetChars = 16_384;

/**
 * The object without what is bulk: the copy of itself that `kubectl apply` keeps in an annotation
 * (it also repeats inline secrets), and over-long field sets of managedFields.
 */
export function bounded(object: KubeObject): KubeObject {
  const { annotations, managedFields } = object.metadata;
  const metadata = { ...object.metadata };
  if (annotations) {
    const { 'kubectl.kubernetes.io/last-applied-configuration': _copy, ...kept } = annotations;
    metadata.annotations = kept;
  }
  if (managedFields) {
    metadata.managedFields = managedFields.map((entry) => {
      const { fieldsV1, ...writer } = entry;
      return JSON.stringify(fieldsV1 ?? {}).length > maxFieldSetChars ? writer : entry;
    });
  }
  return { ...object, metadata };
}
