import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HttpError } from './errors.ts';

/** The part of a request that the guards look at. */
export interface GuardedRequest {
  method: string;
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string };
}

/** 127.0.0.0/8 and ::1, also IPv4 written as IPv6. */
export const isLoopbackAddress = (address: string | undefined): boolean => {
  const plain = (address ?? '').replace(/^::ffff:/i, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
};

/** A name or an address with a port: what the URL parser would cut off (`/`, `#`, `@`) is no part of a host. */
const authorityShape = /^[\w.:[\]-]+$/;

const isLoopbackHost = (authority: string | undefined): boolean => {
  if (!authority || !authorityShape.test(authority) || !URL.canParse(`http://${authority}`)) return false;
  const { hostname } = new URL(`http://${authority}`);
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
};

/** What proxies and tunnels to the outside add; `ssh -L` and `kubectl port-forward` add nothing. */
const forwardedHeader = /^(forwarded|via|x-forwarded-.+|x-original-.+|x-real-ip|x-client-ip|true-client-ip|cf-.+)$/;
const readOnly = new Set(['GET', 'HEAD']);

/**
 * Why a request may not see pages that are for this machine only; null when it may.
 * A page of another site can make a browser on this machine send requests here: by a name that resolves to 127.0.0.1
 * (then Host names that site) or directly (then Origin or Sec-Fetch-Site do).
 */
export const loopbackRefusal = ({ method, headers, socket }: GuardedRequest): HttpError | null => {
  const refuse = (message: string, fix: string) => new HttpError(403, message, fix);
  if (!isLoopbackAddress(socket.remoteAddress) || Object.keys(headers).some((name) => forwardedHeader.test(name))) {
    const fix = 'open it on the machine itself, or through ssh -L or kubectl port-forward';
    return refuse('this page is for the machine Faultline runs on', fix);
  }
  if (!isLoopbackHost(headers.host))
    return refuse('the Host header is not of this machine', 'open http://localhost:PORT/');
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${headers.host}`) {
    return refuse('the request comes from a page of another site', 'open the page itself');
  }
  const site = headers['sec-fetch-site'];
  if (!readOnly.has(method) && site !== undefined && site !== 'same-origin' && site !== 'none') {
    return refuse('the request comes from a page of another site', 'open the page itself');
  }
  return null;
};
