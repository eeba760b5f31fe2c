import { SignatureV4 } from '@smithy/signature-v4';
import type { CredentialsProvider } from './credentials.ts';
import { renewed } from './renewed.ts';

/** What EKS accepts: https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster */
const prefix = 'k8s-aws-v1.';
const signedSeconds = 60;
/** EKS takes a token for 15 minutes from its signature, less a minute for clocks that differ. */
const tokenMs = 14 * 60_000;
const earlyMs = 4 * 60_000;
const failureMs = 10_000;

interface TokenSettings {
  region: string;
  clusterName: string;
  credentials: CredentialsProvider;
  now(): number;
}

/**
 * Bearer tokens for one EKS cluster: a presigned GetCallerIdentity that EKS calls in our name. Made in process without
 * a request; concurrent callers share one, which is renewed before its end. Rejects as the credentials do.
 */
export const eksTokens = ({ region, clusterName, credentials, now }: TokenSettings): (() => Promise<string>) => {
  const token = renewed(
    async () => {
      const keys = await credentials();
      const end = keys.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      return {
        text: await mint({ region, clusterName, keys, at: new Date(now()) }),
        expiresAt: Math.min(now() + tokenMs, end),
      };
    },
    { earlyMs, failureMs, now },
  );
  return async () => (await token()).text;
};

const mint = async ({
  region,
  clusterName,
  keys,
  at,
}: {
  region: string;
  clusterName: string;
  keys: Awaited<ReturnType<CredentialsProvider>>;
  at: Date;
}): Promise<string> => {
  const hostname = `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const { STSClient } = await import('@aws-sdk/client-sts');
  const { sha256 } = new STSClient({ region, credentials: keys }).config;
  const signer = new SignatureV4({ service: 'sts', region, credentials: keys, sha256 });
  const { path, query = {} } = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': clusterName },
    },
    { expiresIn: signedSeconds, signingDate: at },
  );
  const url = new URL(path, `https://${hostname}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return prefix + Buffer.from(url.href).toString('base64url');
};
