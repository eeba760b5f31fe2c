import { expect, test } from 'vitest';
import { layers } from '../../src/domain/layer.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { Rule } from '../../src/triage/rule.ts';

const titles = { cloud: 'Cloud', platform: 'Platform', app: 'Application' } as const;

const entry = ({ id, title, lookAlikes = [] }: Rule): string =>
  [
    `### ${id}`,
    '',
    `${title}.`,
    ...(lookAlikes.length > 0 ? ['', 'Tells apart:', ...lookAlikes.map((one) => `- ${one}`)] : []),
    '',
  ].join('\n');

/** After adding or renaming a rule: npx vitest run test/rules/rules-page.test.ts -u */
test('docs/rules.md is what the rules say', async () => {
  const { rules } = await loadRules();
  const sections = layers.map((layer) => {
    const own = rules.filter((rule) => rule.layer === layer);
    return [`## ${titles[layer]}`, '', ...own.map(entry)].join('\n');
  });
  const page = `# Rules

A rule's folder says where one looks first; the owner of its finding is whoever owns the object at the root of the chain.
Each rule is one file of \`src/rules\` and one test of \`test/rules\`.

${sections.join('\n')}`;
  await expect(page).toMatchFileSnapshot('../../docs/rules.md');
});
