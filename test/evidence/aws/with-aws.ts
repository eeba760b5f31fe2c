import { type AwsAccess, type AwsOptions, awsAccounts } from '../../../src/evidence/aws/account.ts';
import { awsReader } from '../../../src/evidence/aws/live.ts';
import { type AwsApi, hubKeys, startAwsApi } from '../../fakes/aws/server.ts';

/** Faultline's own credentials as the SDK finds them; nothing else of this machine's may be found. */
export const ownKeys = {
  AWS_ACCESS_KEY_ID: hubKeys.accessKeyId,
  AWS_SECRET_ACCESS_KEY: hubKeys.secretAccessKey,
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
  AWS_EC2_METADATA_DISABLED: 'true',
};

const setEnvironment = (values: Record<string, string | undefined>): void => {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
};

export const withEnvironment = async <T>(values: Record<string, string | undefined>, run: () => Promise<T>) => {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  setEnvironment(values);
  try {
    return await run();
  } finally {
    setEnvironment(before);
  }
};

interface Setup {
  access?: Partial<AwsAccess>;
  options?: Partial<AwsOptions>;
  environment?: Record<string, string | undefined>;
}

/** A reader of cluster `prod-usw2` in a double of AWS that gives these answers. */
export const withAws = async (
  answers: Parameters<typeof startAwsApi>[0],
  run: (context: { api: AwsApi; open(): ReturnType<typeof awsReader>; account: Account }) => Promise<void>,
  { access, options, environment }: Setup = {},
): Promise<void> => {
  const api = await startAwsApi(answers);
  try {
    await withEnvironment({ ...ownKeys, ...environment }, async () => {
      const accounts = awsAccounts({ timeoutMs: 5000, endpoint: api.url, ...options });
      const account = accounts.account({ region: 'us-west-2', ...access });
      await run({ api, open: () => awsReader(account, 'prod-usw2'), account });
    });
  } finally {
    await api.close();
  }
};

type Account = ReturnType<ReturnType<typeof awsAccounts>['account']>;
