import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eksTokens } from '../../../src/evidence/aws/eks-token.ts';
import { signatureOf } from '../../fakes/aws/server.ts';

const keys = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'a+b/c==' };
const now = Date.parse('2026-11-20T08:30:00Z');

const setUp = (expiration?: Date, region = 'us-west-2') => {
  const state = { now, asked: 0 };
  const token = eksTokens({
    region,
    clusterName: 'prod-usw2',
    credentials: async () => {
      state.asked += 1;
      return { ...keys, ...(expiration && { expiration }) };
    },
    now: () => state.now,
  });
  return { state, token };
};

const urlOf = (token: string): URL => {
  expect(token).toMatch(/^k8s-aws-v1\.[A-Za-z0-9_-]+$/);
  return new URL(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString());
};

describe('a token for EKS', () => {
  it('is a presigned GetCallerIdentity that binds the cluster’s name', async () => {
    const url = urlOf(await setUp().token());
    expect(url.origin + url.pathname).toBe('https://sts.us-west-2.amazonaws.com/');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      Action: 'GetCallerIdentity',
      Version: '2011-06-15',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'ASIAEXAMPLE/20261120/us-west-2/sts/aws4_request',
      'X-Amz-Date': '20261120T083000Z',
      'X-Amz-Expires': '60',
      'X-Amz-Security-Token': keys.sessionToken,
      'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
    });
    expect(url.searchParams.get('X-Amz-Signature')).toBe(
      signatureOf({
        secret: keys.secretAccessKey,
        scope: ['20261120', 'us-west-2', 'sts'],
        time: '20261120T083000Z',
        method: 'GET',
        url,
        headers: 'host:sts.us-west-2.amazonaws.com\nx-k8s-aws-id:prod-usw2\n',
        signedHeaders: 'host;x-k8s-aws-id',
        bodyHash: createHash('sha256').update('').digest('hex'),
      }),
    );
  });

  it('goes to the STS of its partition', async () => {
    expect(urlOf(await setUp(undefined, 'cn-north-1').token()).host).toBe('sts.cn-north-1.amazonaws.com.cn');
  });

  it('is made once for all, and anew before its fourteen minutes are over', async () => {
    const { state, token } = setUp();
    const [first, second] = await Promise.all([token(), token()]);
    expect(second).toBe(first);
    state.now += 9 * 60_000;
    expect(await token()).toBe(first);
    expect(state.asked).toBe(1);
    state.now += 2 * 60_000;
    await token();
    await expect.poll(token).not.toBe(first);
  });

  it('does not outlive the credentials that signed it', async () => {
    const { state, token } = setUp(new Date(now + 60_000));
    const first = await token();
    state.now += 61_000;
    expect(await token()).not.toBe(first);
  });
});
