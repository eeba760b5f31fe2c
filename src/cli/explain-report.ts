import type { Reasoning, Role, Spoken } from '../domain/reasoning.ts';
import type { Verdict } from '../domain/verdict.ts';
import { count } from '../domain/wording.ts';

const marks: Record<Role, string> = {
  root: '● root       ',
  consequence: '→ consequence',
  rival: '× rival      ',
  beside: '· beside     ',
  elsewhere: '○ elsewhere  ',
};

/** The reasoning for the terminal: what was read, which rules spoke, stayed silent or could not tell, and why the others lost. */
export const explainReport = (reasoning: Reasoning, verdict: Verdict): string => {
  const { read, notRead, scope, spoke, couldNotTell, silent, broken, doubts, layers } = reasoning;
  return [
    '',
    'Read',
    ...read.map((batch) => `  ${readWords(batch)}`),
    ...(notRead.length > 0 ? ['', 'Not read'] : []),
    ...notRead.map(({ layer, missing, fix }) => `  ${layer}: ${missing}${fix ? ` → ${fix}` : ''}`),
    '',
    `In scope: ${scope}`,
    '',
    `Rules that spoke (${spoke.length})`,
    ...spoke.map((said) => `  ${marks[said.role]} ${said.rule}: ${said.cause.en}\n      ${placeOf(said)}`),
    '',
    `Confidence: ${verdict.confidence}${doubts.length > 0 ? `, since ${doubts.join('; ')}` : ', nothing speaks against it'}`,
    '',
    'Why each layer is, or is not, the owner',
    ...layers.flatMap(({ verdict: layer, said }) => [
      `  ${layer.layer}: ${layer.status}, ${layer.status === 'unknown' ? layer.missing : layer.because}`,
      ...said.map(({ role, rule }) => `    its rule ${rule}: ${role}`),
    ]),
    '',
    `Rules that could not tell (${couldNotTell.reduce((sum, { rules }) => sum + rules.length, 0)})`,
    ...couldNotTell.map(({ missing, rules }) => `  without this: ${missing}\n      ${rules.join(', ')}`),
    '',
    `Rules that stayed silent: what they asked for was read, or nothing spoke for reading it (${silent.length})`,
    `  ${silent.map(({ rule }) => rule).join(', ')}`,
    ...broken.map(({ rule, message }) => `Broken: ${rule}: ${message}`),
  ].join('\n');
};

const readWords = ({ layer, objects, logs, series, cloudAnswers, reads, answered }: Reasoning['read'][number]) =>
  `${layer}: ${count(objects, 'object')}, ${count(logs, 'log')}, ${series} series, ${count(cloudAnswers, 'cloud answer')}; ${answered} of ${count(reads, 'read')} answered`;

const placeOf = ({ state, owner, mechanism, strength, onset }: Spoken): string =>
  `${state}, ${owner}, ${mechanism}, ${strength}${onset ? `, since ${onset}` : ''}`;
