import type { Alert, Subject } from '../domain/alert.ts';
import { keyOf, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { workloadsBehind } from './workloads-behind.ts';

/**
 * `Kind namespace/name` or `Kind name`, as every chain and piece of evidence names its object; of a whole sort of
 * objects, `workflows.argoproj.io in desk-quant`, the namespace.
 */
export const parseObject = (text: string, uid?: string): ObjectRef | null => {
  const many = /^[a-z][a-z0-9.-]* in (?:namespace )?([a-z0-9][a-z0-9-]*)$/.exec(text);
  if (many) return { kind: 'Namespace', name: many[1]! };
  const match = /^([A-Z][A-Za-z0-9]+) (?:([a-z0-9][a-z0-9.-]*)\/)?([A-Za-z0-9][\w.:-]*)$/.exec(text);
  if (!match) return null;
  const [, kind = '', namespace, name = ''] = match;
  return { kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
};

const isNamespaced = (ref: ObjectRef | null): ref is ObjectRef =>
  ref !== null && (ref.namespace !== undefined || ref.kind === 'Namespace');

/**
 * The application object at the root of a verdict: the first of the chain that lies in a namespace, else of the app
 * layer's evidence, else the subject. It may belong to another team than the alert's subject.
 */
export const rootObject = (verdict: Verdict, facts: ClusterFacts): ObjectRef => {
  const candidates = [
    ...verdict.chain.map(({ object, uid }) => parseObject(object, uid)),
    ...verdict.evidence.filter(({ layer }) => layer === 'app').map(({ object, uid }) => parseObject(object, uid)),
  ];
  return candidates.find(isNamespaced) ?? subjectRef(facts.subject);
};

export const subjectRef = ({ kind, name, namespace, cluster }: Subject): ObjectRef => ({
  kind,
  name: name ?? namespace ?? cluster,
  ...(namespace && kind !== 'Namespace' ? { namespace } : {}),
});

/** The alerts that are about this object: their subject is it, one of its owners or pods, or its namespace. */
export const alertsAbout = (target: ObjectRef, facts: ClusterFacts): Alert[] => {
  const namespace = target.kind === 'Namespace' ? target.name : target.namespace;
  const family = new Set(workloadsBehind(facts, target).map((object) => keyOf(refOf(object))));
  family.add(keyOf(target));
  const isAbout = (subject: Subject): boolean => {
    const ref = subjectRef(subject);
    if (subject.kind === 'Namespace') return ref.name === namespace;
    // What a Service or Ingress that was not read leads to is unknown; its namespace is the best there is.
    if (!facts.resolve(ref)) return subject.namespace !== undefined && subject.namespace === namespace;
    return family.has(keyOf(ref)) || workloadsBehind(facts, ref).some((object) => family.has(keyOf(refOf(object))));
  };
  if (!facts.subjects.some(isAbout)) return [];
  return facts.alerts.filter(({ labels }) => {
    const named = labels.exported_namespace ?? labels.namespace;
    return !named || !namespace || named === namespace;
  });
};
