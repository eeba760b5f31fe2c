/** One thing that was looked at. `skipped`: nothing to check here, e.g. a CRD that is not installed. */
export interface Check {
  /** What was looked at, e.g. `list events in all namespaces`. */
  name: string;
  status: 'ok' | 'failed' | 'skipped';
  /** What was found. */
  detail: string;
  /** The line that fixes it, where it failed. */
  fix?: string;
}

/** The checks of one neighbour: a cluster, a database, Slack. */
export interface CheckGroup {
  title: string;
  checks: Check[];
}
