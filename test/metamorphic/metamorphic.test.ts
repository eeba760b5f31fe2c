import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { answerOf, type CaseFiles, casesFolder, judgeFiles, readCase } from './case-files.ts';
import { grown, noisy, renamed, reworded, shuffled, without } from './transforms.ts';

const ids = (await readdir(casesFolder)).sort();
const cases = new Map(await Promise.all(ids.map(async (id): Promise<[string, CaseFiles]> => [id, await readCase(id)])));
const answers = new Map<string, string>();
for (const [id, files] of cases) answers.set(id, answerOf(await judgeFiles(files)));

/**
 * Here a name is the evidence: the quota's last writer is the team's own pipeline, which is known by the name it shares
 * with the team.
 */
const namesMatter = new Set(['booking-release-waits']);

/** Cases whose answer changes under a change that means nothing. */
const changedBy = async (transform: (files: CaseFiles) => CaseFiles): Promise<string[]> => {
  const changed: string[] = [];
  for (const [id, files] of cases) {
    const answer = answerOf(await judgeFiles(transform(files)));
    if (transform === renamed && namesMatter.has(id)) continue;
    if (answer !== answers.get(id)) changed.push(`${id}: ${answers.get(id)} became ${answer}`);
  }
  return changed;
};

test.each([
  ['names and ids', renamed],
  ['the order of objects', shuffled],
  ['a cluster ten times as large', grown],
  ['other teams’ failures and autoscaler churn', noisy],
  ['another version’s wording', reworded],
])('%s do not change the owner', async (_, transform) => {
  expect(await changedBy(transform)).toEqual([]);
});

test.each([
  ['logs', /^logs\//],
  ['metrics', /^metrics\.om$/],
  ['cloud answers', /^(aws|cloudwatch)\.json$/],
  ['events', /^cluster\/events\.json$/],
  ['former ReplicaSets', /^cluster\/replicasets\.json$/],
])('without %s the verdict loses confidence, and never names somebody else at high confidence', async (_, source) => {
  const misled: string[] = [];
  for (const [id, files] of cases) {
    const { expected } = JSON.parse(files.get('case.json')!);
    const verdict = await judgeFiles(without(source)(files));
    const states = (expected.state ?? 'fault') === 'fault' ? [] : ['expected', 'over'];
    const right = [expected.owner, ...(expected.accept ?? []), 'undetermined', ...states];
    if (verdict.confidence === 'high' && !right.includes(answerOf(verdict)))
      misled.push(`${id}: ${verdict.rule}: ${verdict.cause.en}`);
  }
  expect(misled).toEqual([]);
});
