import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';
import { correlate } from '../../src/intake/correlate.ts';
import { parsePayload } from '../../src/intake/payload.ts';

/**
 * Alertmanager's webhook. The answer decides what Alertmanager does next: 2xx only when the alerts are committed, 503
 * for what it should try again; 4xx and 429 make it drop this notification.
 */
export default {
  method: 'POST',
  path: '/webhooks/alertmanager',
  auth: 'webhook',
  handler: (deps) => async (request) => {
    const parsed = parsePayload(typeof request.body === 'string' ? request.body : '');
    if (!parsed.ok) throw new HttpError(parsed.refusal.status, parsed.refusal.error, parsed.refusal.fix);
    const notification = correlate(parsed.group, {
      naming: deps.config,
      receivedAt: deps.now(),
      sender: request.grant ?? { name: 'unknown', clusters: [] },
      rejected: parsed.rejected,
    });
    const incidents = await deps.receive(notification);
    deps.metrics.received(notification, incidents);
    return { incidents, rejected: notification.rejected };
  },
} satisfies Route;
