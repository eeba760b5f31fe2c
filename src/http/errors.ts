import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { sendHtml } from '../console/csp.ts';
import { errorPage } from '../console/shell.ts';
import { StorageUnavailable } from '../incidents/ports.ts';

/** An answer other than success. `fix` is the line that helps whoever sent the request. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly statusCode: number;
  readonly fix: string;

  constructor(statusCode: number, message: string, fix: string) {
    super(message);
    this.statusCode = statusCode;
    this.fix = fix;
  }
}

/** 32 MB: an Alertmanager group of 10,000 alerts with long annotations. */
export const maxBodyBytes = 32 * 1024 * 1024;

const toHttpError = (error: FastifyError | Error, requestId: string): HttpError => {
  if (error instanceof HttpError) return error;
  if (error instanceof StorageUnavailable) {
    return new HttpError(503, 'the database is unavailable; nothing was stored', 'send it again later; see /readyz');
  }
  const { code, statusCode } = error as FastifyError;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new HttpError(
      413,
      'the body is larger than 32 MB',
      'set max_alerts in the webhook receiver of Alertmanager',
    );
  }
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new HttpError(statusCode, error.message, 'correct the request');
  }
  return new HttpError(500, 'internal error', `see the log lines of request ${requestId}`);
};

/** A browser that opens an address; everything else, scripts of our own pages too, gets JSON. */
const opensPage = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html');

/** Every failure is a short JSON body `{error, fix}`, or a page that says the same to a browser. */
export const answerError = (
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const { statusCode, message, fix } = toHttpError(error, request.id);
  if (statusCode >= 500) request.log.error({ err: error }, message);
  if (statusCode === 401) reply.header('www-authenticate', 'Bearer realm="faultline", Basic realm="faultline"');
  reply.code(statusCode);
  if (opensPage(request)) return reply.send(sendHtml(reply, errorPage(statusCode, message, fix)));
  return reply.type('application/json').send({ error: message, fix });
};
