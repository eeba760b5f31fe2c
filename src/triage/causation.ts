import type { Finding, Mechanism, Strength } from '../domain/finding.ts';
import type { Layer } from '../domain/layer.ts';
import { layers } from '../domain/layer.ts';
import type { Scope } from '../facts/scope.ts';
import { toMs } from '../facts/time.ts';
import { apiAlert } from './families.ts';
import type { Judgement } from './judge.ts';

/** A cause may be noticed a little after its effect: scrape and event clocks differ by minutes. */
const onsetSlackMs = 10 * 60_000;

/** How much each kind of proof weighs against the others. */
export const weight: Record<Strength, number> = { direct: 3, derived: 2, circumstantial: 1 };

/** The findings of one judgement in their causal order. Without a root no finding reaches the subject. */
export interface Weighed {
  /** What reaches the subject, in a fixed order. */
  connected: Finding[];
  root: Finding | undefined;
  /** Consequences of the root. */
  explained: Finding[];
  /** What the root's rule found beside it. */
  siblings: Finding[];
  /** Other roots that would send the incident to somebody else. */
  rivals: Finding[];
  /**
   * All faults beside the root that nothing explains, rivals first: the layer of one is not cleared, however weak its
   * proof.
   */
  open: Finding[];
}

/** Which finding is the root of what reaches the subject, and what the others are to it. */
export const weigh = (judgement: Judgement): Weighed => {
  const { scope } = judgement;
  const connected = judgement.findings
    .filter((finding) => reaches(finding, scope) && !isBeside(finding, judgement))
    .sort(byId);
  const [root, ...others] = connected.filter((finding) => !isExplained(finding, connected)).sort(byRank(scope));
  if (!root) return { connected, root, explained: [], siblings: [], rivals: [], open: [] };
  const rivals = others.filter((finding) => isRival(finding, root));
  return {
    connected,
    root,
    explained: connected.filter((finding) => finding !== root && root.explains.includes(finding.mechanism)),
    siblings: connected.filter(
      (finding) => finding !== root && finding.rule === root.rule && finding.owner === root.owner,
    ),
    rivals,
    open: [...rivals, ...others.filter((finding) => finding.state === 'fault')],
  };
};

/** Whether a finding harms something in the incident's scope. */
export const reaches = (finding: Finding, scope: Scope): boolean =>
  finding.affects === 'cluster' || finding.affects.some((ref) => scope.has(ref));

/** Mechanisms of making, filling and removing nodes: where one pool or drain is ill, the API server is not. */
const ofCapacity = new Set<Mechanism>([
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
  'volume',
]);

/** An alert about the control plane as a whole is not about a pool or a pod that happens to be ill at the same time. */
const isBeside = (finding: Finding, { facts, scope }: Judgement): boolean =>
  scope.wide &&
  finding.affects !== 'cluster' &&
  ofCapacity.has(finding.mechanism) &&
  facts.alerts.length > 0 &&
  facts.alerts.every((alert) => apiAlert.test(alert.labels.alertname ?? ''));

/** A finding is a consequence where another connected one names its mechanism, is not later, and is not weaker by far. */
const isExplained = (finding: Finding, all: Finding[]): boolean =>
  all.some(
    (cause) => cause !== finding && explains(cause, finding) && !(explains(finding, cause) && outranks(finding, cause)),
  );

const explains = (cause: Finding, effect: Finding): boolean => {
  if (!cause.explains.includes(effect.mechanism)) return false;
  if (cause.owner === 'undetermined' && cause.state === 'fault' && effect.owner !== 'undetermined') return false;
  if (cause.strength === 'circumstantial' && effect.strength === 'direct') return false;
  if (!cause.onset || !effect.onset) return true;
  return toMs(cause.onset) <= toMs(effect.onset) + onsetSlackMs;
};

const outranks = (a: Finding, b: Finding): boolean =>
  weight[a.strength] - weight[b.strength] > 0 || (weight[a.strength] === weight[b.strength] && byId(a, b) < 0);

/** Strength first, then how closely it touches the subject, then how much it explains, then the layers' order. */
const byRank =
  (scope: Scope) =>
  (a: Finding, b: Finding): number =>
    rank(b, scope) - rank(a, scope) || layerIndex(a) - layerIndex(b) || byId(a, b);

const rank = (finding: Finding, scope: Scope): number =>
  weight[finding.strength] * 100 +
  closeness(finding, scope) * 10 +
  Math.min(finding.explains.length, 9) -
  (finding.owner === 'undetermined' && finding.state === 'fault' ? 150 : 0);

/** 3: harms troubled pods or subject nodes themselves; 2: harms something in scope; 1: reaches it as part of the cluster. */
const closeness = (finding: Finding, scope: Scope): number => {
  if (finding.affects === 'cluster') return scope.wide ? 3 : 1;
  const near = new Set(
    [...scope.troubledPods, ...scope.subjectNodes].map(
      (object) => `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`,
    ),
  );
  if (finding.affects.some((ref) => near.has(`${ref.kind}/${ref.namespace ?? ''}/${ref.name}`))) return 3;
  return scope.wide ? 1 : 2;
};

const layerIndex = (finding: Finding): number => layers.indexOf(finding.owner as Layer);
const byId = (a: Finding, b: Finding): number => {
  const [left, right] = [`${a.rule}/${a.cause.en}`, `${b.rule}/${b.cause.en}`];
  return left < right ? -1 : left > right ? 1 : 0;
};

/** Another root that would send the incident to somebody else. */
const isRival = (finding: Finding, root: Finding): boolean =>
  finding.state === 'fault' &&
  finding.owner !== root.owner &&
  finding.owner !== 'undetermined' &&
  weight[finding.strength] >= weight[root.strength];
