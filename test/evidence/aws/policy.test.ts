import { glob, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { iamAction, operationNames, operationOf } from '../../../src/evidence/aws/operations.ts';
import { awsCalls } from '../../../src/triage/collect/cloud.ts';

interface Policy {
  Statement: { Effect: string; Action: string[]; Resource: string }[];
}

describe('the read policy', () => {
  it('allows exactly what the reader calls', async () => {
    const policy: Policy = JSON.parse(await readFile('deploy/aws/read-policy.json', 'utf8'));
    expect(policy.Statement).toMatchObject([{ Effect: 'Allow' }, { Effect: 'Allow' }]);
    const [described, logs] = policy.Statement as [Policy['Statement'][0], Policy['Statement'][0]];
    expect([...described.Action, ...logs.Action].sort()).toEqual(operationNames().map(iamAction).sort());
    expect(described.Action).toEqual(described.Action.toSorted());
  });

  it('reads what programs write only from the group of the clusters’ containers', async () => {
    const policy: Policy = JSON.parse(await readFile('deploy/aws/read-policy.json', 'utf8'));
    const granted = policy.Statement.find(({ Action }) => Action.includes(iamAction('logs.filterLogEvents')));
    expect(granted).toMatchObject({
      Action: ['logs:FilterLogEvents'],
      Resource: expect.stringMatching(/:log-group:\/aws\/containerinsights\/\*\/application:\*$/),
    });
  });

  it('holds nothing that writes, and nothing that reads data or secrets', () => {
    const names = operationNames()
      .filter((call) => call !== 'logs.filterLogEvents')
      .map((call) => call.split('.')[1]!);
    expect(names.filter((name) => !/^(describe|list|get|lookup)[A-Z]/.test(name))).toEqual([]);
    expect(names.filter((name) => /Secret|Object|Item|Parameter|Password|Token|Message|Log/.test(name))).toEqual([]);
  });
});

describe('the operations', () => {
  it('answer all that triage asks', () => {
    expect(awsCalls.filter((call) => !operationOf(call))).toEqual([]);
  });

  it('answer all that the recorded incidents of the cases show', async () => {
    const shown = new Set<string>();
    for await (const file of glob('test/cases/*/aws.json'))
      for (const call of Object.keys(JSON.parse(await readFile(file, 'utf8')))) shown.add(call);
    expect(shown.size).toBeGreaterThan(10);
    expect([...shown].filter((call) => !operationOf(call) || !awsCalls.includes(call))).toEqual([]);
  });

  it('name only operations that exist as their forerunners', () => {
    const unknown = operationNames().flatMap((call) =>
      (operationOf(call)!.operation.after ?? []).filter((earlier) => !operationOf(earlier)),
    );
    expect(unknown).toEqual([]);
  });
});
