import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertTarget, readAlerts } from '../../../src/cli/target.ts';
import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { cloudQuestion } from '../../../src/triage/collect/cloud-question.ts';
import { Collection } from '../../../src/triage/collect/collection.ts';

const cases = 'test/cases';

const touchedBy = async (id: string) => {
  const snapshot = await openSnapshot(join(cases, id));
  const target = alertTarget(await readAlerts(join(cases, id, 'alert.json')), snapshot.meta.cluster);
  const collection = new Collection('cloud', target, snapshot);
  return { collection, question: cloudQuestion(collection), touched: await cloudQuestion(collection).touched() };
};

const recorded = async (id: string): Promise<any> => {
  const file = await readFile(join(cases, id, 'aws.json'), 'utf8').catch(() => '{}');
  return JSON.parse(file);
};

/** Instances whose recorded state says something: not running, failing a check, or to be retired. */
const telling = (answers: any): string[] =>
  [
    ...(answers['ec2.describeInstanceStatus']?.InstanceStatuses ?? []).filter(
      (status: any) =>
        /impaired|failed|shutting-down|terminated|stopp/.test(JSON.stringify(status)) || status.Events?.length,
    ),
    ...(answers['ec2.describeInstances']?.Reservations ?? []).flatMap((entry: any) => entry.Instances),
  ].map((entry: any) => entry.InstanceId);

describe('what the cloud is asked about', () => {
  it('holds each ill or vanished instance of every case, and never all of a large cluster', async () => {
    const found: string[] = [];
    for (const id of await readdir(cases)) {
      const ids = telling(await recorded(id));
      if (ids.length === 0) continue;
      const { touched } = await touchedBy(id);
      expect(touched.instanceIds, id).toEqual(expect.arrayContaining(ids));
      expect(touched.instanceIds.length).toBeLessThanOrEqual(50);
      found.push(...ids);
    }
    expect(found.length).toBeGreaterThan(8);
  });

  it('is the role whose trust or entry is in question', async () => {
    const identity = await touchedBy('ledger-writer-access-denied-after-release');
    expect(identity.touched.podRoles).toEqual(['arn:aws:iam::111122223333:role/bank-data-ledger-writer']);
    const refused = await touchedBy('auto-pool-not-ready-role-unauthorized');
    expect(refused.touched).toMatchObject({ nodeRoles: ['app-node'], nodeRoleRefused: true });
  });

  it('is the queue that Karpenter listens to, and the subnets that its class chose', async () => {
    const { touched } = await touchedBy('pods-creating-no-address');
    expect(touched.queues).toEqual(['Karpenter-prod-usw2']);
    expect(touched.subnetIds).toEqual(['subnet-0a0', 'subnet-0a1', 'subnet-0a2']);
  });

  it('is found aside: its reads cost calls and leave no facts', async () => {
    const { collection, question } = await touchedBy('node-vanished-errors-burst');
    expect(collection.facts.objects).toEqual([]);
    expect(collection.facts.reads).toEqual([]);
    expect(collection.facts.apiCalls).toBeGreaterThan(5);
    expect(Date.parse(question.until) - Date.parse(question.since)).toBe(6 * 3600_000);
  });
});
