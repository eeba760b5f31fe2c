import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import { verdictReport } from '../../src/cli/verdict-report.ts';
import { layers } from '../../src/domain/layer.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { redact } from '../../src/redaction/redact.ts';
import { loadRules } from '../../src/rules/load.ts';
import { triage } from '../../src/triage/triage.ts';
import { type CaseFiles, casesFolder, readCase, withObjects, writeCase } from '../metamorphic/case-files.ts';
import { mutator } from './mutations.ts';

const ids = (await readdir(casesFolder)).sort();
const ruleSet = await loadRules();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-fuzz-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a triage of the files says, shown and stored as one would; with the rules that broke on them. */
const judged = async (name: string, files: CaseFiles) => {
  const dir = join(folder, name);
  await writeCase(dir, files);
  const snapshot = await openSnapshot(dir);
  const target = alertTarget(redact(await readAlerts(join(dir, 'alert.json'))), snapshot.meta.cluster);
  const { verdict, judgement, facts } = await triage(ruleSet, target, snapshot, redact);
  const brokenOff = facts.flatMap(({ reads }) => reads).filter(({ gap }) => gap?.message.includes('broke off'));
  return {
    verdict,
    report: verdictReport(target, verdict),
    broken: [...judgement.broken, ...brokenOff],
    stored: JSON.stringify(facts),
  };
};

/** The case with its objects and cloud answers spoilt: a few fields of them, or many. */
const spoilt = (files: CaseFiles, seed: number): CaseFiles => {
  const { mutate } = mutator(seed);
  const rate = [0.003, 0.02, 0.08][seed % 3]!;
  const changed = withObjects(files, (items) => items.map((item) => mutate(item, rate)));
  const answers = Object.entries(JSON.parse(files.get('aws.json') ?? '{}'));
  const answered = answers.map(([call, answer]) => [call, mutate(answer, rate)]);
  return answers.length > 0 ? changed.set('aws.json', JSON.stringify(Object.fromEntries(answered))) : changed;
};

test('spoilt objects and cloud answers still get a verdict, and break no rule', async () => {
  const broken: string[] = [];
  for (const [index, id] of ids.entries()) {
    const result = await judged(`${id}-spoilt`, spoilt(await readCase(id), index));
    expect(result.verdict.layers.map(({ layer }) => layer)).toEqual([...layers]);
    broken.push(...result.broken.map((entry) => `${id} with seed ${index}: ${JSON.stringify(entry)}`));
  }
  expect(broken).toEqual([]);
});

const owned = (item: any, by: any) => {
  const { name, uid } = by.metadata;
  return { ...item, metadata: { ...item.metadata, ownerReferences: [{ kind: by.kind, name, uid, controller: true }] } };
};
const withOddLabels = ({ metadata }: any) => ({
  ...metadata,
  labels: { ...metadata.labels, ['__proto__']: 'x', constructor: 'x', toString: 'x' },
});
const noObjects = [null, 7, 'x', [], {}, { kind: 'Pod' }, { kind: 'Pod', metadata: null }];

test.each<[string, (items: any[]) => any[]]>([
  ['owners in a circle', (items) => items.map((item, index) => owned(item, items[(index + 1) % items.length]))],
  ['objects that own themselves', (items) => items.map((item) => owned(item, item))],
  ['one uid for all', (items) => items.map((item) => ({ ...item, metadata: { ...item.metadata, uid: 'same' } }))],
  ['neither spec nor status', (items) => items.map(({ spec: _spec, status: _status, ...item }) => item)],
  ['null for spec, a word for status', (items) => items.map((item) => ({ ...item, spec: null, status: 'x' }))],
  ['names of prototypes as labels', (items) => items.map((item) => ({ ...item, metadata: withOddLabels(item) }))],
  ['what is no object among them', (items) => [...noObjects, ...items]],
])('a cluster with %s gets a verdict', async (name, change) => {
  const files = withObjects(await readCase('crashloop-report-worker'), change);
  const { broken, verdict } = await judged(name.replaceAll(/\W/g, '-'), files);
  expect(broken).toEqual([]);
  expect(verdict.layers).toHaveLength(3);
});

test('fields nested 5,000 deep change nothing', async () => {
  const files = await readCase('crashloop-report-worker');
  const pods = files.get('cluster/pods.json')!;
  const nested = `"deep": ${'['.repeat(5000)}${']'.repeat(5000)}, "kind": "Pod"`;
  files.set('cluster/pods.json', pods.replaceAll(/"kind": ?"Pod"/g, nested));
  expect(files.get('cluster/pods.json')).not.toBe(pods);
  const { broken, verdict } = await judged('deep', files);
  expect(broken).toEqual([]);
  expect(verdict).toEqual((await judged('flat', await readCase('crashloop-report-worker'))).verdict);
});
