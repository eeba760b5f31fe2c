import { fileURLToPath } from 'node:url';
import type { Layer } from '../domain/layer.ts';
import { inLanguage, type Language } from '../domain/text.ts';
import type { Escalation } from '../domain/view.ts';
import { redact } from '../redaction/redact.ts';
import { redactText } from '../redaction/text.ts';
import { firstLooker } from '../routing/route.ts';
import { incompleteIn } from './completeness.ts';
import { type EscalationInput, packContext } from './context.ts';
import { type PackEngine, packEngine } from './engine.ts';
import { legibleLine } from './legible.ts';

export type { EscalationInput } from './context.ts';

/** Where the packs lie that come with Faultline. */
export const packFolder = fileURLToPath(new URL('../../templates/escalation', import.meta.url));

export type Escalate = (input: EscalationInput) => Escalation | null;

/**
 * Who the pack is written for: the verdict's owner. Undetermined: whoever can make the missing read; nobody where no
 * read would settle it. Expected and over: nobody, since nobody has to act.
 */
export const audienceOf = ({ state, owner, missing }: EscalationInput['verdict']): Layer | null => {
  if (state !== 'fault') return null;
  if (owner !== 'undetermined') return owner;
  return missing.length > 0 ? firstLooker({ missing }) : null;
};

/**
 * Packs from the templates of a folder, which are read once. A template that cannot be used costs its own layout and
 * not the verdict: the English one takes its place, else the plain facts, and `incomplete` says what to mend.
 */
export const escalatorOf = (folder: string): Escalate => {
  const engine = packEngine(folder);
  return (input) => fill(engine, input);
};

let shipped: Escalate | null = null;

/** The escalation the verdict's owner needs, filled from evidence and redacted; null where nobody has to be called. */
export const escalate: Escalate = (input) => {
  shipped ??= escalatorOf(packFolder);
  return shipped(input);
};

const fill = (engine: PackEngine, input: EscalationInput): Escalation | null => {
  const audience = input.audience ?? audienceOf(input.verdict);
  if (!audience) return null;
  const pack = packContext(redact(input), audience);
  const vendor =
    localName(engine, `vendors/${pack.cluster.vendor}`, input.language) ??
    localName(engine, 'vendors/other', input.language);
  const rendered = render(engine, audience, input, { ...pack, vendor });
  return {
    audience,
    title: legibleLine(redactText(rendered.title), 200),
    body: redactText(rendered.body),
    incomplete: [...rendered.problems, ...incompleteIn(audience, pack, input.language)].map((line) =>
      legibleLine(redactText(line)),
    ),
  };
};

const localName = (engine: PackEngine, name: string, language: Language): string | null =>
  [`${name}.${language}`, `${name}.en`].find((candidate) => engine.has(candidate)) ?? null;

interface Rendered {
  title: string;
  body: string;
  problems: string[];
}

/** The first line of a template is the title. */
const render = (engine: PackEngine, audience: Layer, input: EscalationInput, values: object): Rendered => {
  const problems = engine.problems.map((problem) => `a template has to be mended: ${problem}`);
  for (const name of new Set([`${audience}.${input.language}`, `${audience}.en`])) {
    if (!engine.has(name)) continue;
    try {
      const [title = '', ...body] = engine.render(name, values).split('\n');
      return { title: title.replace(/^#+\s*/, ''), body: body.join('\n').trim(), problems };
    } catch (error) {
      problems.push(`a template has to be mended: ${name}.liquid: ${(error as Error).message}`);
    }
  }
  return { ...plain(input), problems };
};

const plain = ({ verdict, language }: EscalationInput): Omit<Rendered, 'problems'> => ({
  title: legibleLine(inLanguage(verdict.cause, language), 200),
  body: verdict.evidence
    .map(({ object, field, value, text, reproduce }) =>
      legibleLine(`- ${object} ${field}: ${value} ${text} (${reproduce})`),
    )
    .join('\n'),
});
