import { SignatureV4 } from '@smithy/signature-v4';

/** What a signature is made with. */
export type KeysProvider = () => Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string }>;

interface SignedService {
  /** Name of the service in the signature: `aps`, `arc-zonal-shift`. */
  service: string;
  region: string;
  credentials: KeysProvider;
}

/** Signs GET requests without a body (Signature Version 4). Rejects as the credentials do. */
export const getSigner = ({ service, region, credentials }: SignedService) => {
  const signer = (async () => {
    const { STSClient } = await import('@aws-sdk/client-sts');
    const { sha256 } = new STSClient({ region, credentials }).config;
    return new SignatureV4({ service, region, credentials, sha256 });
  })();
  return async (url: URL): Promise<Record<string, string>> => {
    const query: Record<string, string[]> = {};
    for (const [name, value] of url.searchParams) query[name] = [...(query[name] ?? []), value];
    const { headers } = await (await signer).sign({
      method: 'GET',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query,
      headers: { host: url.host },
    });
    return headers;
  };
};

/** Region in the host of a workspace of Amazon Managed Service for Prometheus: `aps-workspaces.<region>.amazonaws.com`. */
export const workspaceRegion = (url: string): string | undefined =>
  /^aps-workspaces(?:-fips)?\.([a-z0-9-]+)\./.exec(new URL(url).hostname)?.[1];
