import type { Layer } from './layer.ts';

/** Where a piece of evidence was read. */
export type EvidenceSource = 'kubernetes' | 'event' | 'log' | 'probe' | 'metrics' | 'cloudwatch' | 'aws' | 'alert';

/** One fact as the machine wrote it, with the way to see it again and what it cannot show. */
export interface Evidence {
  layer: Layer;
  source: EvidenceSource;
  /** `Kind namespace/name`; for cloud answers the API call. */
  object: string;
  uid?: string;
  /** Path of the field, metric name or reason. */
  field: string;
  value: string;
  /** The machine's own text; empty where the value says it all. */
  text: string;
  /** ISO 8601 time the fact is about, where it has one. */
  at?: string;
  /** A kubectl, PromQL or AWS CLI line. */
  reproduce: string;
  limits: string;
}
