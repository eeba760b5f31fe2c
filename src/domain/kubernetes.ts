/** Kubernetes objects as the API server writes them. Every field outside metadata may be missing in practice. */

export interface OwnerReference {
  apiVersion?: string;
  kind: string;
  name: string;
  uid?: string;
  controller?: boolean;
}

export interface ManagedField {
  manager?: string;
  operation?: string;
  time?: string;
  subresource?: string;
  fieldsV1?: Record<string, unknown>;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  generation?: number;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedField[];
}

/** Kind-specific fields are untyped here: kinds come and go with the cluster's CRDs. */
export interface KubeObject {
  apiVersion?: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: any;
  status?: any;
  [field: string]: any;
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

/** An event of v1 or events.k8s.io/v1, brought to one shape. */
export interface KubeEvent {
  uid?: string;
  namespace: string;
  name: string;
  type: string;
  reason: string;
  message: string;
  /** Reporting component, e.g. `kubelet`, `karpenter`, `default-scheduler`. */
  source: string;
  host?: string;
  count: number;
  firstAt: string;
  lastAt: string;
  regarding: ObjectRef & { fieldPath?: string };
}

export interface ObjectRef {
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  apiVersion?: string;
}

export const refOf = (object: KubeObject): ObjectRef => ({
  kind: object.kind,
  name: object.metadata.name,
  ...(object.metadata.namespace ? { namespace: object.metadata.namespace } : {}),
  ...(object.metadata.uid ? { uid: object.metadata.uid } : {}),
  ...(object.apiVersion ? { apiVersion: object.apiVersion } : {}),
});

/** `Kind namespace/name`, or `Kind name` for what has no namespace: how objects are named everywhere. */
export const describeRef = (ref: ObjectRef): string =>
  `${ref.kind} ${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}`;

/** Identity that does not depend on uid, which events and labels often lack. */
export const keyOf = (ref: ObjectRef): string => `${ref.kind}/${ref.namespace ?? ''}/${ref.name}`;
