import type { Evidence } from './evidence.ts';
import type { ObjectRef } from './kubernetes.ts';
import type { Boundary, Owner, VerdictState } from './layer.ts';
import type { Text } from './text.ts';

/**
 * What a finding is an instance of. Findings of one mechanism can be the consequence of another's:
 * a silent node explains pending pods, a leak explains an autoscaler that grows.
 */
export const mechanisms = [
  'heartbeat',
  'control-plane',
  'etcd',
  'api-flood',
  'webhook',
  'controller-down',
  'tunnel',
  'zone-outage',
  'host-failure',
  'node-silent',
  'node-runtime',
  'node-pressure',
  'node-image',
  'node-removed',
  'node-churn',
  'launch-failed',
  'node-not-joining',
  'node-not-initialized',
  'pool-not-ready',
  'pool-limit',
  'pool-mismatch',
  'autoscaler-growth',
  'drain-blocked',
  'scheduling',
  'pending',
  'quota',
  'admission-denied',
  'sandbox-network',
  'address-exhaustion',
  'network',
  'dns',
  'volume',
  'image-pull',
  'image-broken',
  'config-missing',
  'identity',
  'oom',
  'leak',
  'crash',
  'probe',
  'application-error',
  'dependency',
  'traffic',
  'load',
  'scaling-metrics',
  'scaling-limit',
  'rollout',
  'eviction',
  'job',
  'throttling',
  'certificate',
  'unknown-symptom',
] as const;
export type Mechanism = (typeof mechanisms)[number];

/**
 * `direct`: a machine states the fault itself. `derived`: several facts together prove it.
 * `circumstantial`: consistent with it, and other explanations remain.
 */
export type Strength = 'direct' | 'derived' | 'circumstantial';

export interface ChainLink {
  object: string;
  uid?: string;
  claim: string;
}

export interface Contribution {
  owner: Exclude<Owner, 'undetermined'>;
  action: Text;
}

/** A read that would settle what is open, with the command or permission that makes it possible. */
export interface MissingRead {
  layer: 'cloud' | 'platform' | 'app';
  missing: string;
  fix: string;
}

/** What one rule says about the situation. Owner is whoever owns the object at the root. */
export interface Finding {
  rule: string;
  mechanism: Mechanism;
  /** Mechanisms whose findings are consequences of this one, where both reach the subject. */
  explains: Mechanism[];
  state: VerdictState;
  owner: Owner;
  boundary: Boundary | null;
  strength: Strength;
  cause: Text;
  /** The object at the root of the chain. */
  root: ObjectRef;
  /** Objects that the root harms. A finding counts only if one of them is the subject or belongs to its scope. */
  affects: ObjectRef[] | 'cluster';
  /** When it began, ISO 8601, where the evidence tells. */
  onset?: string;
  evidence: Evidence[];
  /** Root first, subject last. */
  chain: ChainLink[];
  contributing: Contribution[];
  /** What the owner should do, first step first. */
  nextSteps: Text[];
  /** For an owner of `undetermined`: what would settle it. */
  missing: MissingRead[];
  /** For `expected`: when a re-check must find it gone. */
  deadline?: string;
}
