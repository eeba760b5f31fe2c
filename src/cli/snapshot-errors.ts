import { ClusterAccessError } from '../evidence/kubernetes/access.ts';
import { SnapshotError } from '../evidence/kubernetes/snapshot-error.ts';
import { OperatorError } from './operator-error.ts';

/** A folder or a cluster that cannot be opened is the operator's to mend: exit 2 with what is wrong. */
export const asOperatorError = (error: unknown): never => {
  throw error instanceof SnapshotError || error instanceof ClusterAccessError
    ? new OperatorError(error.message)
    : error;
};
