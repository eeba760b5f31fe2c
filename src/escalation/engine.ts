import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Liquid } from 'liquidjs';
import { legibleLine, legibleLines } from './legible.ts';

/** Far above any real pack; a template that loops ends here. */
const limits = { parseLimit: 200_000, renderLimitMs: 2_000, memoryLimit: 5_000_000 };

export interface PackEngine {
  /** Templates that cannot be used as they are written, each with its file and the parser's words. */
  problems: string[];
  has(name: string): boolean;
  /** Throws where the template fails on these values. */
  render(name: string, values: object): string;
}

/**
 * The templates of one folder, read once. The engine sees these texts and no file system; values are only the fields
 * they own; every output is one legible line unless a filter says otherwise.
 */
export const packEngine = (folder: string): PackEngine => {
  const problems: string[] = [];
  const templates = readTemplates(folder, problems);
  const engine = new Liquid({
    templates,
    extname: '.liquid',
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    ownPropertyOnly: true,
    parseLimit: limits.parseLimit,
    renderLimit: limits.renderLimitMs,
    memoryLimit: limits.memoryLimit,
    outputEscape: (value: unknown) => legibleLine(value),
  });
  // `raw` spares the result the escape above; the filters do their own.
  engine.registerFilter('block', { raw: true, handler: block });
  engine.registerFilter('time', time);
  const parsed = new Map<string, ReturnType<Liquid['parse']>>();
  for (const [file, content] of Object.entries(templates)) {
    try {
      parsed.set(file.replace(/\.liquid$/, ''), engine.parse(content, file));
    } catch (error) {
      problems.push(`${join(folder, file)}: ${(error as Error).message}`);
    }
  }
  return {
    problems,
    has: (name) => parsed.has(name),
    render: (name, values) => tidy(engine.renderSync(parsed.get(name)!, values)),
  };
};

const readTemplates = (folder: string, problems: string[]): Record<string, string> => {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.name.endsWith('.liquid'),
    );
    return Object.fromEntries(
      files.map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path), readFileSync(path, 'utf8')];
      }),
    );
  } catch (error) {
    problems.push(`${folder}: ${(error as Error).message}`);
    return {};
  }
};

/** Lines quoted with `>`: what a machine wrote at length cannot pass for ours. */
const block = (value: unknown): string =>
  legibleLines(value)
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

/** `2026-11-20 08:30:00 UTC`; what is no time stays as it is. */
const time = (value: unknown): string => {
  const at = new Date(String(value));
  return Number.isNaN(at.getTime()) ? String(value ?? '') : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
};

/** Conditions in a template leave empty lines behind: they stay before headings only. */
const tidy = (text: string): string =>
  text
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{2,}(?!#)/g, '\n')
    .replace(/(?<!\n)\n+(?=#)/g, '\n\n')
    .trim();
