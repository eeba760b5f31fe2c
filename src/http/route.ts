import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebhookGrant } from './auth.ts';
import type { HandlerDeps } from './deps.ts';

/**
 * Who may use a route. `none` is for health alone; `slack`: the handler's receiver checks Slack's signature. `loopback`: only this machine, with Host and Origin checked.
 * `webhook`: a configured webhook token. `webhook-or-loopback`: either.
 */
export type RouteAuth = 'none' | 'slack' | 'webhook' | 'loopback' | 'webhook-or-loopback';

/**
 * Default export of every file in `handlers/webhooks` and `handlers/pages`. The body of a request arrives as text,
 * whatever its content type says; what it means is the handler's to parse.
 */
export interface Route {
  method: 'GET' | 'POST';
  path: string;
  auth: RouteAuth;
  handler(deps: HandlerDeps): (request: FastifyRequest, reply: FastifyReply) => unknown;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes that a webhook token opened. */
    grant: WebhookGrant | null;
  }
}
