import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Liquid, type Template } from 'liquidjs';
import { parse } from 'yaml';
import type { Language } from '../domain/text.ts';

/** The words of one language: `say('label.owner')`, `say('state.refired', { count: 2 })`. */
export interface Messages {
  language: Language;
  /** Throws on a key that neither the language nor English has. Values are inserted as they are: escape the result. */
  say(key: string, values?: Record<string, string | number>): string;
}

const flatten = (tree: unknown, path: string, file: string): [string, string][] => {
  if (typeof tree === 'string') return [[path, tree]];
  if (tree === null || typeof tree !== 'object')
    throw new Error(`${file}: ${path || 'the file'} must be a text or a map`);
  return Object.entries(tree).flatMap(([key, value]) => flatten(value, path ? `${path}.${key}` : key, file));
};

const readCatalogue = (folder: string, language: Language, engine: Liquid): Map<string, Template[]> => {
  const file = join(folder, `${language}.yaml`);
  const entries = flatten(parse(readFileSync(file, 'utf8')), '', file);
  return new Map(
    entries.map(([key, source]) => {
      try {
        return [key, engine.parse(source)];
      } catch (cause) {
        throw new Error(`${file}: ${key}: ${(cause as Error).message}`, { cause });
      }
    }),
  );
};

/**
 * Reads `<folder>/<language>.yaml`: a tree of short Liquid texts without markup. Keys a language lacks, and a language
 * without a file, are said in English. Throws on a faulty template, naming the key.
 */
export const loadMessages = (folder: string, language: Language): Messages => {
  const engine = new Liquid();
  const english = readCatalogue(folder, 'en', engine);
  const translated = language !== 'en' && existsSync(join(folder, `${language}.yaml`));
  const own = translated ? readCatalogue(folder, language, engine) : english;
  return {
    language,
    say(key, values = {}) {
      const template = own.get(key) ?? english.get(key);
      if (!template) throw new Error(`No message ${key} in ${folder}`);
      return String(engine.renderSync(template, values));
    },
  };
};
