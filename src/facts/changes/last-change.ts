import type { Evidence } from '../../domain/evidence.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { nameOf } from '../chain.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { minutesBetween } from '../time.ts';
import { rolloutOf } from '../workloads/workloads.ts';
import { lastWriter } from '../writers.ts';
import { type Delivered, type Delivery, deliveredAt, deliveryOf, nameOfDelivery, undoOf } from './delivery.ts';
import { templateChanges } from './template-diff.ts';

/** The last change of an object's specification: when, what and by whom, as far as objects tell. */
export interface LastChange {
  object: KubeObject;
  at: string;
  /** The revision that came into use, for a workload. */
  revision?: KubeObject;
  /** What differs from the former revision, where that is known. */
  what: string[];
  delivery?: Delivery;
  delivered?: Delivered;
  /** The entry of managedFields. */
  write?: { manager?: string; operation?: string; time?: string };
  /** The command that takes it back; undefined where none does. */
  undo?: string;
}

/** Kinds that controllers alone write: their last write is no one's change. */
const notWritten =
  /^(Pod|ReplicaSet|ControllerRevision|Node|NodeClaim|Job|Lease|Event|EndpointSlice|PersistentVolume|PersistentVolumeClaim|VolumeAttachment)$/;

/** A write belongs to a rollout that began in its minutes. */
const sameWriteMinutes = 3;

export const lastChangeOf = (facts: ClusterFacts, object: KubeObject): LastChange | undefined => {
  if (notWritten.test(object.kind)) return undefined;
  const rollout = rolloutOf(facts, object);
  // A first revision is how the object came to be, not a change of it.
  if (rollout && !rollout.previous) return undefined;
  const write = lastWriter(object, rollout ? 'f:template' : undefined);
  const at = rollout?.at ?? write?.time;
  if (!at) return undefined;
  const delivery = deliveryOf(facts, object);
  return {
    object,
    at,
    revision: rollout?.current,
    what: rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [],
    delivery,
    delivered: delivery && deliveredAt(delivery, at),
    write: write && Math.abs(minutesBetween(write.time, at)) <= sameWriteMinutes ? write : undefined,
    undo: undoOf(delivery, object),
  };
};

/** `by Argo CD application argocd/shop at revision 4f2c…, synced by alice`; empty where nobody left a mark. */
export const authorOf = ({ delivery, delivered, write }: LastChange): string => {
  if (delivery && delivered)
    return `by ${nameOfDelivery(delivery)} at revision ${delivered.revision}${delivered.by ? `, synced by ${delivered.by}` : ''}`;
  if (delivery) return `by ${nameOfDelivery(delivery)}`;
  return write?.manager ? `by ${write.manager}` : '';
};

/** The change as evidence: the revision and what it changed, who applied it, and the deliverer's own record. */
export const citeChange = (evidence: Cite, change: LastChange, when: string): Evidence[] => {
  const { revision, delivery, delivered, write, object, what } = change;
  return [
    ...(revision
      ? [
          {
            ...evidence.field(
              revision,
              'metadata.creationTimestamp',
              change.at,
              `${when}: ${what.join('; ') || 'template'}`,
            ),
            at: change.at,
          },
        ]
      : []),
    ...(delivery?.object && delivered
      ? [
          {
            ...evidence.field(
              delivery.object,
              delivered.path,
              delivered.revision,
              `applied ${nameOf(object)} at ${delivered.at}${delivered.by ? `, by ${delivered.by}` : ''}`,
            ),
            at: delivered.at,
          },
        ]
      : []),
    ...(write && !delivered
      ? [
          {
            ...evidence.field(
              object,
              'metadata.managedFields',
              { manager: write.manager, operation: write.operation, time: write.time },
              when,
            ),
            at: write.time,
          },
        ]
      : []),
  ];
};
