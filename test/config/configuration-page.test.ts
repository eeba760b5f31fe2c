import { expect, test } from 'vitest';
import { type Setting, settings } from '../../src/config/settings.ts';

const cell = (value: string): string => value.replaceAll('|', '\\|');

const defaultOf = (value: unknown): string => {
  const shown = String(value ?? '');
  return shown === '' ? '' : `\`${cell(shown)}\``;
};

const row = ({ key, env, secret, fallback, about, allowed }: Setting): string => {
  const variable = env ? `\`${env}\`${secret ? ` or \`${env}_FILE\`` : ''}` : '';
  return `| \`${key}\` | ${variable} | ${defaultOf(fallback)} | ${cell(about)} | ${cell(allowed)} |`;
};

const page = `# Configuration

Faultline reads \`faultline.yaml\` of the working directory, or the file \`FAULTLINE_CONFIG\` names; the environment overrides the file. Every secret is
also readable from a file: \`<VARIABLE>_FILE\`, or \`<key>File\` in the file. All problems are reported at once, each with its key, what was found and
what is allowed; \`npm run faultline -- doctor\` says what is missing. [faultline.example.yaml](../faultline.example.yaml) has every key with a comment.

| key | environment | default | | allowed |
| --- | --- | --- | --- | --- |
${settings.map(row).join('\n')}
`;

/** After changing the schema: npx vitest run test/config -u */
test('docs/configuration.md is what the schema says', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/configuration.md');
});
