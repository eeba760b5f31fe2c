import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RoleError } from './gaps.ts';
import { type Expiring, renewed } from './renewed.ts';

/** Keys of a session, in the SDK's shape. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}

export type CredentialsProvider = () => Promise<AwsCredentials>;

interface StsSettings {
  region: string;
  endpoint?: string;
  maxAttempts: number;
}

/** A session is renewed this long before its end; calls that begin before run on with the old one. */
const earlyMs = 10 * 60_000;
/** A missing right or role is not asked for again for so long. */
const failureMs = 30_000;
/** The longest that a role lets another role chain into it. */
const sessionSeconds = 3600;

const far = Number.POSITIVE_INFINITY;
const withExpiry = (credentials: AwsCredentials): AwsCredentials & Expiring => ({
  ...credentials,
  expiresAt: credentials.expiration?.getTime() ?? far,
});

/**
 * Whether credentials of its own were given to this process, as far as can be seen without a request: an instance
 * profile cannot, and asking for one where there is none costs seconds.
 */
export const credentialsInSight = (env: NodeJS.ProcessEnv): boolean => {
  const files = [
    env.AWS_CONFIG_FILE ?? join(homedir(), '.aws/config'),
    env.AWS_SHARED_CREDENTIALS_FILE ?? join(homedir(), '.aws/credentials'),
  ];
  const names = [
    'AWS_ACCESS_KEY_ID',
    'AWS_PROFILE',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  ];
  return names.some((name) => env[name]) || files.some((file) => existsSync(file));
};

/**
 * Faultline's own credentials by the SDK's default chain: environment, profile, web identity (IRSA), Pod Identity,
 * instance profile. Rejects with the SDK's CredentialsProviderError where there are none.
 */
export const hubCredentials = (settings: StsSettings, now: () => number): CredentialsProvider =>
  renewed(
    async () => {
      const { STSClient } = await import('@aws-sdk/client-sts');
      return withExpiry(await new STSClient(settings).config.credentials());
    },
    // The SDK renews these itself, at most five minutes before their end.
    { earlyMs: 4 * 60_000, failureMs, now },
  );

/** A session of the role in a cluster's account. Rejects with RoleError. */
export const assumedRole = (
  { role, externalId }: { role: string; externalId?: string },
  settings: StsSettings,
  hub: CredentialsProvider,
  now: () => number,
): CredentialsProvider =>
  renewed(
    async () => {
      try {
        const { STSClient, AssumeRoleCommand } = await import('@aws-sdk/client-sts');
        const { Credentials } = await new STSClient({ ...settings, credentials: hub }).send(
          new AssumeRoleCommand({
            RoleArn: role,
            RoleSessionName: 'faultline',
            DurationSeconds: sessionSeconds,
            ...(externalId && { ExternalId: externalId }),
          }),
        );
        if (!Credentials?.AccessKeyId || !Credentials.SecretAccessKey) throw new Error('STS sent no credentials');
        return withExpiry({
          accessKeyId: Credentials.AccessKeyId,
          secretAccessKey: Credentials.SecretAccessKey,
          sessionToken: Credentials.SessionToken,
          expiration: Credentials.Expiration,
        });
      } catch (error) {
        throw new RoleError(role, error);
      }
    },
    { earlyMs, failureMs, now },
  );
