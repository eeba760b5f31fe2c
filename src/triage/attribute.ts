import type { Evidence } from '../domain/evidence.ts';
import type { Finding, Mechanism, Strength } from '../domain/finding.ts';
import { describeRef } from '../domain/kubernetes.ts';
import { type Confidence, type Layer, layers } from '../domain/layer.ts';
import { text } from '../domain/text.ts';
import type { LayerVerdict, Verdict } from '../domain/verdict.ts';
import type { Scope } from '../facts/scope.ts';
import { toMs } from '../facts/time.ts';
import { clearLayers } from './clearance.ts';
import { apiAlert } from './families.ts';
import { impactOf } from './impact.ts';
import type { Judgement } from './judge.ts';

/** Evidence a verdict shows: enough for the chain, few enough to read at night. */
const maxEvidence = 16;
/** A cause may be noticed a little after its effect: scrape and event clocks differ by minutes. */
const onsetSlackMs = 10 * 60_000;

const weight: Record<Strength, number> = { direct: 3, derived: 2, circumstantial: 1 };

/** Finds the root of the causal chain that reaches the subject, and says how sure that is. */
export const attribute = (judgement: Judgement, ruleSet: string): Verdict => {
  const { facts, scope } = judgement;
  const connected = judgement.findings
    .filter((finding) => reaches(finding, scope) && !isBeside(finding, judgement))
    .sort(byId);
  const roots = connected.filter((finding) => !isExplained(finding, connected)).sort(byRank(scope));
  const root = roots[0];
  const cleared = clearLayers(facts, scope, connected);
  const base = {
    impact: impactOf(facts, scope),
    ruleSet,
    rule: root?.rule ?? null,
  };
  if (!root) return { ...nothingFound(cleared, facts.alerts[0]?.startsAt ?? null), ...base };

  const explained = connected.filter((finding) => finding !== root && root.explains.includes(finding.mechanism));
  const siblings = connected.filter(
    (finding) => finding !== root && finding.rule === root.rule && finding.owner === root.owner,
  );
  const rivals = roots.filter((finding) => finding !== root && isRival(finding, root));
  // Rivals first: a layer with a fault that nothing explains is not cleared, however weak that fault's proof.
  const open = [...rivals, ...roots.filter((finding) => finding !== root && finding.state === 'fault')];
  const layerVerdicts = cleared.map((layer) => implicate(layer, root, open));
  return {
    ...base,
    state: root.state,
    owner: root.state === 'fault' ? root.owner : 'undetermined',
    boundary: root.boundary,
    confidence: confidenceOf(root, rivals, layerVerdicts),
    cause: root.cause,
    contributing: contributionsOf(root, explained),
    evidence: evidenceOf(root, siblings, explained),
    chain: root.chain,
    layers: layerVerdicts,
    missing:
      root.owner === 'undetermined' && root.state === 'fault'
        ? [...root.missing, ...missingOf(layerVerdicts)].slice(0, 4)
        : root.missing,
    nextSteps: root.nextSteps,
    cannotShow: [...cannotShow(root), ...brokenRules(judgement)],
    wouldChange: wouldChange(root, rivals, layerVerdicts),
    onset: root.onset ?? facts.alerts[0]?.startsAt ?? null,
    deadline: root.deadline ?? null,
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

/** `high` needs direct evidence of the root, no rival, and positive clearance of the layers above the owner. */
const confidenceOf = (root: Finding, rivals: Finding[], verdicts: LayerVerdict[]): Confidence => {
  if (root.state !== 'fault') return root.strength === 'circumstantial' ? 'medium' : 'high';
  if (root.owner === 'undetermined') return 'low';
  const above = verdicts.slice(0, layers.indexOf(root.owner));
  const open = above.filter((layer) => layer.status === 'unknown').length;
  const doubts =
    (root.strength === 'direct' ? 0 : root.strength === 'derived' ? 1 : 2) +
    (rivals.length > 0 ? 1 : 0) +
    (open > 0 ? 1 : 0);
  return doubts === 0 ? 'high' : doubts === 1 ? 'medium' : 'low';
};

const implicate = (layer: LayerVerdict, root: Finding, open: Finding[]): LayerVerdict => {
  if (root.state !== 'fault')
    return layer.status === 'implicated' ? { layer: layer.layer, status: 'cleared', because: root.cause.en } : layer;
  if (layer.layer === root.owner) return { layer: layer.layer, status: 'implicated', because: inShort(root) };
  const rival = open.find((finding) => finding.owner === layer.layer);
  if (rival)
    return {
      layer: layer.layer,
      status: 'unknown',
      missing: `not excluded: ${rival.cause.en}`,
      fix: rival.nextSteps[0]?.en ?? 'compare the two chains of evidence',
    };
  const unread = root.missing.find((missing) => missing.layer === layer.layer);
  return unread ? { layer: layer.layer, status: 'unknown', missing: unread.missing, fix: unread.fix } : layer;
};

/** The root in a few words, where the cause is said beside it. */
const inShort = ({ chain, root, boundary }: Finding): string =>
  chain[0] ? `${chain[0].object}: ${chain[0].claim}` : `${describeRef(root)}${boundary ? ` (${boundary})` : ''}`;

const contributionsOf = (root: Finding, explained: Finding[]): Finding['contributing'] => {
  const all = [root, ...explained]
    .flatMap((finding) => finding.contributing)
    .filter((entry) => entry.owner !== root.owner);
  return [...new Map(all.map((entry) => [`${entry.owner}/${entry.action.en}`, entry])).values()];
};

/** The root's own, the first words of what the same rule found beside it, and what its consequences show. */
const evidenceOf = (root: Finding, siblings: Finding[], explained: Finding[]): Evidence[] => {
  const all = [
    ...root.evidence,
    ...siblings.slice(0, 4).flatMap((finding) => finding.evidence.slice(0, 1)),
    ...explained.flatMap((finding) => finding.evidence.slice(0, 4)),
  ];
  const unique = new Map(all.map((entry) => [`${entry.object}|${entry.field}|${entry.value}|${entry.text}`, entry]));
  return [...unique.values()].slice(0, maxEvidence);
};

const missingOf = (verdicts: LayerVerdict[]): Finding['missing'] =>
  verdicts.flatMap((layer) =>
    layer.status === 'unknown' ? [{ layer: layer.layer, missing: layer.missing, fix: layer.fix }] : [],
  );

const cannotShow = (root: Finding): string[] =>
  [...new Set(root.evidence.map((entry) => `${entry.source}: ${entry.limits}`))].slice(0, 5);

const brokenRules = ({ broken }: Judgement): string[] =>
  broken.map(({ rule, message }) => `rule ${rule} broke and said nothing: ${message}`);

const wouldChange = (root: Finding, rivals: Finding[], verdicts: LayerVerdict[]): string[] => [
  ...rivals.slice(0, 2).map((rival) => `proof that this came first: ${rival.cause.en}`),
  ...verdicts
    .flatMap((layer) =>
      // Where all was read and nothing speaks for or against a layer, no read would change anything.
      layer.status === 'unknown' && !layer.silent && layer.layer !== root.owner
        ? [`${layer.layer}: ${layer.missing}`]
        : [],
    )
    .slice(0, 2),
  ...(root.state === 'expected' ? ['the state lasting past its deadline'] : []),
];

/** No rule's finding reaches the subject: an honest "cannot tell" that names what was not readable. */
const nothingFound = (
  verdicts: LayerVerdict[],
  onset: string | null,
): Omit<Verdict, 'impact' | 'ruleSet' | 'rule'> => ({
  state: 'fault',
  owner: 'undetermined',
  boundary: null,
  confidence: 'low',
  cause: text('No rule found a cause that reaches the subject of the alert.'),
  contributing: [],
  evidence: [],
  chain: [],
  layers: verdicts,
  missing: missingOf(verdicts),
  nextSteps: missingOf(verdicts).map((entry) => text(`${entry.missing}: ${entry.fix}`)),
  cannotShow: [],
  wouldChange: missingOf(verdicts).map((entry) => `${entry.layer}: ${entry.missing}`),
  onset,
  deadline: null,
});
