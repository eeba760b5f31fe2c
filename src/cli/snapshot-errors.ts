import { SnapshotError } from '../evidence/kubernetes/snapshot-error.ts';
import { OperatorError } from './operator-error.ts';

/** A folder that cannot be read is the operator's to mend: exit 2 with the file and what is wrong. */
export const asOperatorError = (error: unknown): never => {
  throw error instanceof SnapshotError ? new OperatorError(error.message) : error;
};
