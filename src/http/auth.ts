import { createHash, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/schema.ts';

/** Who may post alerts, and for which clusters; null: for all. */
export interface WebhookGrant {
  name: string;
  clusters: string[] | null;
}

/** Alertmanager sends `credentials` as a bearer token, `basic_auth` as user and password; the token is the password. */
const presentedToken = (authorization: string | undefined): string | null => {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return null;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? null : pair.slice(colon + 1);
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The grant of a request's Authorization header, or null. All tokens are compared, each in constant time. */
export const webhookGrant = (webhooks: Config['webhooks'], authorization: string | undefined): WebhookGrant | null => {
  const presented = presentedToken(authorization);
  if (!presented) return null;
  const digested = digest(presented);
  const { alertmanagerToken, tokens } = webhooks;
  const all = [
    ...tokens.map(({ name, token, clusters }) => ({ token, grant: { name, clusters: clusters ?? null } })),
    ...(alertmanagerToken ? [{ token: alertmanagerToken, grant: { name: 'alertmanager', clusters: null } }] : []),
  ];
  const matches = all.filter(({ token }) => timingSafeEqual(digest(token.reveal()), digested));
  return matches[0]?.grant ?? null;
};
