import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeProblem, loadConfig } from '../../src/config/load.ts';
import { settings } from '../../src/config/settings.ts';

const example = readFileSync('faultline.example.yaml', 'utf8');
/** With every example line switched on. */
const everything = example.replace(/^#(?=\S| {2,})/gm, '');

const load = (text: string) => {
  const loaded = loadConfig({ FAULTLINE_CONFIG: 'faultline.example.yaml', HOME: '/home/op' }, () => text);
  if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'));
  return loaded.config;
};

/** `clusters[].name` for every key that is written, lists seen as one. */
const writtenKeys = (value: unknown, key = ''): string[] => {
  if (Array.isArray(value)) return value.flatMap((item) => writtenKeys(item, `${key}[]`));
  if (!value || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const at = key ? `${key}.${name}` : name;
    return [at, ...writtenKeys(field, at)];
  });
};

const at = (value: any, key: string) => key.split('.').reduce((sum, step) => sum?.[step], value);

it('is a right configuration, plain and with every example switched on', () => {
  expect(load(example).clusters).toEqual([]);
  expect(load(everything).clusters.map((cluster) => cluster.name)).toEqual([
    'prod-eu',
    'tools',
    'prod-us',
    'last-week',
  ]);
});

it('writes every key there is, and its variable', () => {
  const written = writtenKeys(parse(everything));
  expect(settings.map((setting) => setting.key).filter((key) => !written.includes(key))).toEqual([]);
  expect(settings.filter((setting) => setting.env && !example.includes(`(${setting.env}`)).map((s) => s.key)).toEqual(
    [],
  );
});

it('shows the defaults where it is not commented out', () => {
  const plain = parse(example);
  const shown = settings.filter((setting) => !setting.key.includes('[]') && at(plain, setting.key) !== undefined);
  expect(shown.length).toBeGreaterThan(10);
  for (const setting of shown)
    expect({ [setting.key]: at(plain, setting.key) }).toEqual({ [setting.key]: setting.fallback });
  const hidden = settings.filter((setting) => !setting.key.includes('[]') && at(plain, setting.key) === undefined);
  for (const setting of hidden) expect(setting.fallback ?? []).toEqual([]);
});

it('gives every setting a description and every top one a variable', () => {
  expect(settings.filter((setting) => !setting.about || !setting.allowed)).toEqual([]);
  expect(settings.filter((setting) => !setting.env && !setting.key.includes('[]'))).toEqual([]);
});
