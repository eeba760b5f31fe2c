import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertTarget, readAlerts } from '../../../src/cli/target.ts';
import { openLive } from '../../../src/clusters.ts';
import type { LayerFacts } from '../../../src/domain/facts.ts';
import { awsAccounts } from '../../../src/evidence/aws/account.ts';
import { collectLayer } from '../../../src/triage/collect/layer.ts';
import { startAwsApi } from '../../fakes/aws/server.ts';
import { startKubernetesApi } from '../../fakes/kubernetes/server.ts';
import { ownKeys, withEnvironment } from './with-aws.ts';

const dir = join('test/cases', 'api-errors-short-burst');
const recorded = JSON.parse(await readFile(join(dir, 'aws.json'), 'utf8'));
const seconds = (update: any) => ({ ...update, createdAt: Date.parse(update.createdAt) / 1000 });

/** The cloud layer of a recorded incident, read from a live API server and a live AWS. */
const readLive = async (environment: Record<string, string | undefined>): Promise<LayerFacts> => {
  const kubernetes = await startKubernetesApi(dir);
  const aws = await startAwsApi({
    'eks.describeCluster': { body: recorded['eks.describeCluster'] },
    'eks.listUpdates': { body: recorded['eks.listUpdates'] },
    'eks.describeUpdate': { body: { update: seconds(recorded['eks.describeUpdate'].update) } },
    'health.describeEvents': { body: recorded['health.describeEvents'] },
  });
  try {
    return await withEnvironment({ ...ownKeys, ...environment }, async () => {
      const accounts = awsAccounts({ timeoutMs: 10_000, endpoint: aws.url });
      const access = { kubeconfig: kubernetes.kubeconfig, region: 'us-west-2', eksName: 'staging-usw2' };
      const cluster = await openLive(access, undefined, 10_000, accounts);
      const target = alertTarget(await readAlerts(join(dir, 'alert.json')), cluster.identity);
      return await collectLayer('cloud', target, cluster.readers());
    });
  } finally {
    await kubernetes.close();
    await aws.close();
  }
};

describe('the cloud layer of a live EKS cluster', () => {
  it('holds the answers of AWS as a snapshot would, and a gap for each that was refused', async () => {
    const facts = await readLive({});
    const answers = Object.fromEntries(facts.cloud.map(({ call, answer }) => [call, answer]));
    expect(answers).toEqual({
      'eks.describeCluster': recorded['eks.describeCluster'],
      'eks.listUpdates': recorded['eks.listUpdates'],
      'eks.describeUpdate': recorded['eks.describeUpdate'],
      'health.describeEvents': recorded['health.describeEvents'],
    });
    const reasonOf = (what: string) => facts.reads.find((read) => read.what === what)?.gap?.reason;
    expect(reasonOf('ec2.describeInstanceStatus')).toBe('forbidden');
    expect(reasonOf('health.describeEventDetails')).toBe('not-found');
  });

  it('without credentials says so, and asks nobody', async () => {
    const facts = await readLive({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    expect(facts.cloud).toEqual([]);
    expect(facts.reads.find((read) => read.source === 'aws')?.gap).toMatchObject({
      reason: 'not-configured',
      fix: expect.stringContaining('docs/aws.md'),
    });
  });
});
