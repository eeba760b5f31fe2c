import type { FastifyReply } from 'fastify';
import type { Html } from './html.ts';

/** Own files only: no inline script, no other origin. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const sendHtml = (reply: FastifyReply, page: Html): string => {
  reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
  return page.markup;
};
