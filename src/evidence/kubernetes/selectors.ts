import type { KubeObject } from '../../domain/kubernetes.ts';
import type { Resource } from '../../triage/ports.ts';

export type Matches = (object: KubeObject) => boolean;

/** A selector that an API server would answer with 400. */
export class SelectorError extends Error {
  override name = 'SelectorError';
}

const identifier = /^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$/;
const setBased = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/;

/** Label values (apimachinery's IsValidLabelValue). */
const labelValue = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

const valueOrThrow = (value: string): string => {
  if (!labelValue.test(value)) throw new SelectorError(`invalid label value: "${value}"`);
  return value;
};

const keyOrThrow = (key: string, selector: string): string => {
  if (!identifier.test(key)) throw new SelectorError(`unable to parse requirement: invalid label key in "${selector}"`);
  return key;
};

function labelRequirement(term: string): (labels: Record<string, string>) => boolean {
  const set = setBased.exec(term);
  if (set) {
    const key = keyOrThrow(set[1]!, term);
    const values = set[3]!.split(',').map((value) => valueOrThrow(value.trim()));
    return set[2] === 'in'
      ? (labels) => labels[key] !== undefined && values.includes(labels[key])
      : (labels) => labels[key] === undefined || !values.includes(labels[key]);
  }
  const equal = equality.exec(term);
  if (equal) {
    const key = keyOrThrow(equal[1]!, term);
    const value = valueOrThrow(equal[3]!);
    return equal[2] === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const absent = term.startsWith('!');
  const key = keyOrThrow(absent ? term.slice(1).trim() : term, term);
  return (labels) => (labels[key] === undefined) === absent;
}

/** Compiles `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws SelectorError. */
function compileLabelSelector(selector: string): Matches {
  const terms = selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter(Boolean)
    .map(labelRequirement);
  return (object) => terms.every((matches) => matches(object.metadata.labels ?? {}));
}

/**
 * Fields that the API server can select by, beside metadata.name and metadata.namespace
 * (Kubernetes pkg/apis/<group>/v1/conversion.go and each registry's strategy).
 */
const selectableFields: Record<string, string[]> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  events: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  replicasets: ['status.replicas'],
  jobs: ['status.successful'],
};

function fieldValue(object: KubeObject, path: string): string {
  if (object.kind === 'Event' && path === 'source') {
    return object.source?.component || object.reportingComponent || '';
  }
  let value: any = object;
  for (const step of path.split('.')) value = value?.[step];
  // Unset booleans and numbers select as their zero values, unset strings as the empty one.
  if (value === undefined || value === null) {
    if (path === 'spec.unschedulable' || path === 'spec.hostNetwork') return 'false';
    return path === 'status.replicas' || path === 'status.successful' ? '0' : '';
  }
  return String(value);
}

/** Compiles `path=value,path!=value` for one resource. Throws SelectorError for what its API does not support. */
function compileFieldSelector(selector: string, resource: Pick<Resource, 'plural'>): Matches {
  const allowed = ['metadata.name', 'metadata.namespace', ...(selectableFields[resource.plural] ?? [])];
  const terms = selector
    .split(',')
    .map((term) => term.trim())
    .filter(Boolean)
    .map((term) => {
      const match = /^([^=!]+?)(==|=|!=)(.*)$/.exec(term);
      if (!match) throw new SelectorError(`invalid selector: "${term}"; can't understand "${term}"`);
      const [, path, operator, value] = match as unknown as [string, string, string, string];
      if (!allowed.includes(path)) throw new SelectorError(`field label not supported: ${path}`);
      return (object: KubeObject) => (fieldValue(object, path) === value) === (operator !== '!=');
    });
  return (object) => terms.every((matches) => matches(object));
}

/** Both selectors of a list call as one predicate. Throws SelectorError. */
export function compileSelectors(
  resource: Resource,
  selectors: { namespace?: string; labelSelector?: string; fieldSelector?: string },
): Matches {
  const byLabel = compileLabelSelector(selectors.labelSelector ?? '');
  const byField = compileFieldSelector(selectors.fieldSelector ?? '', resource);
  const { namespace } = selectors;
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && byLabel(object) && byField(object);
}
