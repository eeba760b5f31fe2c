import type { KubeObject } from '../../domain/kubernetes.ts';
import { wellFormed } from '../well-formed.ts';
import { kubernetesFields } from './field-types.ts';
import { withoutValues } from './without-values.ts';

/** Field sets longer than this name nothing that triage reads; the writer and its time are kept. */
const maxFieldSetChars = 16_384;

/**
 * The object without what is bulk: the copy of itself that `kubectl apply` keeps in an annotation
 * (it also repeats inline secrets), and over-long field sets of managedFields.
 */
function bounded(object: KubeObject): KubeObject {
  const { annotations, managedFields, ownerReferences } = object.metadata;
  const metadata = { ...object.metadata };
  // An owner is found by kind and name; the API server requires both.
  if (ownerReferences) metadata.ownerReferences = ownerReferences.filter(({ kind, name }) => kind && name);
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

/** The one name with two shapes that matter: an endpoint's conditions are an object, a status' are a list. */
const withListedConditions = (object: KubeObject): KubeObject =>
  object.status?.conditions === undefined || Array.isArray(object.status.conditions)
    ? object
    : { ...object, status: { ...object.status, conditions: [] } };

/** A ControllerRevision's data is the part of a workload's spec that it stands for. */
const asRevision = (object: KubeObject): KubeObject => {
  if (object.kind !== 'ControllerRevision') return object;
  const { data, ...revision } = object;
  return { ...revision, spec: data?.spec };
};

/**
 * An answer's object as triage may work with it: bounded, its fields of the types that the API gives them. Null for
 * what is no object with a kind and a name.
 */
export function readableObject(answer: unknown): KubeObject | null {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return null;
  const object = wellFormed(asRevision(answer as KubeObject), kubernetesFields);
  return object.kind && object.metadata?.name ? bounded(withoutValues(withListedConditions(object))) : null;
}
