import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { layers } from '../domain/layer.ts';
import type { Rule, RuleDefinition, RuleSet } from '../triage/rule.ts';

/** Every file of `cloud/`, `platform/` and `app/` is a rule: there is no list to edit. */
export const loadRules = async (): Promise<RuleSet> => {
  const rules: Rule[] = [];
  const hash = createHash('sha256');
  for (const layer of layers) {
    const folder = new URL(`./${layer}/`, import.meta.url);
    const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
    for (const file of files) {
      const url = new URL(file, folder);
      const module = (await import(url.href)) as { default: RuleDefinition };
      rules.push({ ...module.default, id: file.replace(/\.ts$/, ''), layer });
      hash.update(file).update(await readFile(url));
    }
  }
  return { rules, version: hash.digest('hex').slice(0, 12) };
};
