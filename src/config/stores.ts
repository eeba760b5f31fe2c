import { z } from 'zod';
import { address, addressAllowed, secret, setting, text } from './setting.ts';

/** How we show who we are to an HTTP query API; `env` begins the variables of the general ones. */
const credentials = (api: string, env?: string) => ({
  bearerToken: setting(secret().optional(), {
    ...(env && { env: `${env}_TOKEN` }),
    about: `Bearer token for ${api}.`,
    allowed: 'text without spaces',
    secret: true,
  }),
  username: setting(text.optional(), {
    ...(env && { env: `${env}_USERNAME` }),
    about: `User name for ${api} (basic authentication), where there is no bearer token.`,
    allowed: 'a name, beside a password',
  }),
  password: setting(secret(/^.+$/).optional(), {
    ...(env && { env: `${env}_PASSWORD` }),
    about: 'Password of that user.',
    allowed: 'a text, beside a username',
    secret: true,
  }),
  tenant: setting(text.optional(), {
    ...(env && { env: `${env}_TENANT` }),
    about: 'Tenant, sent as X-Scope-OrgID.',
    allowed: 'the name of a tenant',
  }),
  caFile: setting(text.optional(), {
    ...(env && { env: `${env}_CA_FILE` }),
    about: `PEM file of the authority that signed the certificate of ${api}; unset: the system's.`,
    allowed: 'a path',
    path: true,
  }),
});

export const prometheusAuth = (env?: string) =>
  z.strictObject({
    ...credentials('Prometheus', env),
    sigv4: setting(z.boolean().default(false), {
      ...(env && { env: `${env}_SIGV4` }),
      about: 'Sign requests with AWS credentials (Amazon Managed Service for Prometheus); with `role` as that role.',
      allowed: 'true or false',
    }),
  });

const label = (name: string) =>
  setting(
    z
      .string()
      .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/)
      .default(name),
    { about: `Stream label that holds the ${name}.`, allowed: 'the name of a label' },
  );

const matcher = setting(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*(=|=~|!=|!~)"[^"\\]*"$/), {
  about: 'One matcher.',
  allowed: 'a LogQL matcher, e.g. cluster="prod"',
});

/** Where the logs of pods that are gone are kept. */
export const loki = z.strictObject({
  url: setting(address, {
    about: "Loki that holds this cluster's logs, also of pods that are gone.",
    allowed: addressAllowed,
  }),
  ...credentials('Loki'),
  matchers: setting(z.array(matcher).default([]), {
    about: 'Further matchers of each query, where one Loki holds the logs of several clusters.',
    allowed: 'a list of LogQL matchers, e.g. cluster="prod"',
  }),
  labels: z
    .strictObject({ namespace: label('namespace'), pod: label('pod'), container: label('container') })
    .prefault({}),
});

export type PrometheusAuth = z.output<ReturnType<typeof prometheusAuth>>;
export type LokiConfig = z.output<typeof loki>;
