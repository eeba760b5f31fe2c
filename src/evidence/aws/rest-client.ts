import type { ClientSettings, ServiceClient } from './operation.ts';
import { getSigner, type KeysProvider } from './sign.ts';

interface RestService {
  /** Name of the service in the signature, and first part of its host. */
  signedAs: string;
  /** Path of each operation, all of them GET; its parameters become the query. */
  paths: Record<string, string>;
}

/**
 * A client for a service that answers plain signed GET requests in JSON and has no SDK module that we depend on. Rejects
 * with an error that bears the API's code as its name, as the SDK's do.
 */
export const restClient = async (
  { signedAs, paths }: RestService,
  { region, endpoint, credentials }: ClientSettings,
): Promise<ServiceClient> => {
  const sign = getSigner({ service: signedAs, region, credentials: credentials as KeysProvider });
  const base = endpoint ?? `https://${signedAs}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return {
    async send(operation, parameters, signal) {
      const url = new URL(paths[operation]!, base);
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
      const headers = await sign(url);
      const response = await fetch(url, { headers, signal, redirect: 'error' });
      const body = await response.json().catch(() => ({}));
      if (response.ok) return body;
      const code = response.headers.get('x-amzn-errortype') ?? body.__type ?? `Http${response.status}`;
      throw Object.assign(new Error(body.message ?? body.Message ?? code), {
        name: code.split(':')[0].split('#').at(-1),
        $metadata: { httpStatusCode: response.status },
      });
    },
  };
};
