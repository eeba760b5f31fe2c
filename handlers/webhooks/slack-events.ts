import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

/** Slack's clicks over HTTP, for installations without Socket Mode. */
export default {
  method: 'POST',
  path: '/slack/events',
  auth: 'slack',
  handler: (deps) => async (request, reply) => {
    if (!deps.slackEvents)
      throw new HttpError(
        404,
        'Slack does not call this installation',
        'set SLACK_SIGNING_SECRET and no SLACK_APP_TOKEN',
      );
    reply.hijack();
    // The signature covers the bytes as they came, and the server has read them already.
    Object.assign(request.raw, { rawBody: Buffer.from(typeof request.body === 'string' ? request.body : '') });
    deps.slackEvents(request.raw, reply.raw);
  },
} satisfies Route;
