import { describeRef, type KubeObject, refOf } from '../domain/kubernetes.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { parseObject } from '../routing/root.ts';

/** What the objects of the chain say about themselves beyond the evidence. */
export interface Changes {
  /** Newest writers of spec fields: `NodePool default: argocd-controller (Apply) at 2026-…`. */
  writers: string[];
  /** Conditions that are not as they should be: `NodePool default NodeClassReady=False SubnetsNotFound: …`. */
  conditions: string[];
}

const maxEach = 8;

/** Conditions for which True is the trouble. */
const badWhenTrue =
  /Pressure$|Unavailable$|^(?:Drifted|Expired|Terminating|FailedCreate|ReplicaFailure|Failed|Degraded|Stalled)$/;

export const changesOf = (facts: ClusterFacts, verdict: Verdict): Changes => {
  const refs = [...verdict.chain, ...verdict.evidence].map(({ object, uid }) => parseObject(object, uid));
  const objects = [...new Set(refs.flatMap((ref) => (ref && ref.kind !== 'Event' ? (facts.resolve(ref) ?? []) : [])))];
  return {
    writers: objects.flatMap(writersOf).slice(0, maxEach),
    conditions: objects.flatMap(conditionsOf).slice(0, maxEach),
  };
};

/** Status is written by controllers all the time; who wrote the spec is the question. */
const writersOf = (object: KubeObject): string[] => {
  const entries = (object.metadata.managedFields ?? []).filter(
    ({ subresource, fieldsV1, time }) => !subresource && time && fieldsV1 !== undefined && 'f:spec' in fieldsV1,
  );
  const newest = entries.sort((a, b) => Date.parse(b.time!) - Date.parse(a.time!))[0];
  return newest
    ? [`${describeRef(refOf(object))}: ${newest.manager ?? 'unknown'} (${newest.operation ?? ''}) at ${newest.time}`]
    : [];
};

const conditionsOf = (object: KubeObject): string[] => {
  const conditions: any[] = Array.isArray(object.status?.conditions) ? object.status.conditions : [];
  return conditions
    .filter(({ type, status }) => status === (badWhenTrue.test(type) ? 'True' : 'False') || status === 'Unknown')
    .map(({ type, status, reason, message }) =>
      `${describeRef(refOf(object))} ${type}=${status}${reason ? ` ${reason}` : ''}${message ? `: ${message}` : ''}`.slice(
        0,
        400,
      ),
    );
};
