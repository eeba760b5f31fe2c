import type { Evidence } from '../domain/evidence.ts';
import type { Finding } from '../domain/finding.ts';
import { describeRef } from '../domain/kubernetes.ts';
import { text } from '../domain/text.ts';
import type { LayerVerdict, Verdict } from '../domain/verdict.ts';
import { worded } from '../domain/wording.ts';
import { weigh } from './causation.ts';
import { clearLayers } from './clearance.ts';
import { confidenceOf, doubtsOf } from './confidence.ts';
import { impactOf } from './impact.ts';
import type { Judgement } from './judge.ts';
import { withRelease } from './release.ts';

/** Evidence a verdict shows: enough for the chain, few enough to read at night. */
const maxEvidence = 16;

/** Finds the root of the causal chain that reaches the subject, and says how sure that is. */
export const attribute = (judgement: Judgement, ruleSet: string): Verdict => {
  const { facts, scope } = judgement;
  const weighed = weigh(judgement);
  const { root, connected } = weighed;
  const cleared = clearLayers(facts, scope, connected);
  const base = {
    impact: impactOf(facts, scope),
    ruleSet,
    rule: root?.rule ?? null,
  };
  if (!root) return { ...nothingFound(cleared, facts.alerts[0]?.startsAt ?? null), ...base };

  const { explained, siblings, rivals, open } = weighed;
  const layerVerdicts = cleared.map((layer) => implicate(layer, root, open));
  const told = withRelease(root, facts);
  return {
    ...base,
    state: root.state,
    owner: root.state === 'fault' ? root.owner : 'undetermined',
    boundary: root.boundary,
    confidence: confidenceOf(doubtsOf(root, rivals, layerVerdicts)),
    cause: root.cause,
    contributing: contributionsOf(root, explained),
    evidence: evidenceOf(told, siblings, explained),
    chain: root.chain.map((link) => ({ ...link, claim: worded(link.claim) })),
    layers: layerVerdicts,
    missing:
      root.owner === 'undetermined' && root.state === 'fault'
        ? [...root.missing, ...missingOf(layerVerdicts)].slice(0, 4)
        : root.missing,
    nextSteps: told.nextSteps,
    cannotShow: [...cannotShow(told), ...brokenRules(judgement)],
    wouldChange: wouldChange(root, rivals, layerVerdicts),
    onset: root.onset ?? facts.alerts[0]?.startsAt ?? null,
    deadline: root.deadline ?? null,
  };
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
  chain[0]
    ? `${chain[0].object}: ${worded(chain[0].claim)}`
    : `${describeRef(root)}${boundary ? ` (${boundary})` : ''}`;

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

/** What could not be read; where all was, the layers that nothing speaks for or against. */
const missingOf = (verdicts: LayerVerdict[]): Finding['missing'] => {
  const open = verdicts.filter((layer) => layer.status === 'unknown');
  const unread = open.filter((layer) => !layer.silent);
  return (unread.length > 0 ? unread : open).map(({ layer, missing, fix }) => ({ layer, missing, fix }));
};

const looks = (verdicts: LayerVerdict[]): Verdict['nextSteps'] =>
  verdicts.flatMap((layer) =>
    layer.status === 'unknown'
      ? [text(layer.silent ? `Look at what the rules do not know: \`${layer.fix}\`` : `${layer.missing}: ${layer.fix}`)]
      : [],
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
  nextSteps: looks(verdicts),
  cannotShow: [],
  wouldChange: verdicts.flatMap((layer) =>
    layer.status === 'unknown' && !layer.silent ? [`${layer.layer}: ${layer.missing}`] : [],
  ),
  onset,
  deadline: null,
});
