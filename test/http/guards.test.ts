import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, loopbackRefusal } from '../../src/http/guards.ts';

const request = (method: string, headers: Record<string, string>, remoteAddress = '127.0.0.1') => ({
  method,
  headers: { host: 'localhost:3000', ...headers },
  socket: { remoteAddress },
});

describe('loopbackRefusal', () => {
  it.each([
    ['a plain GET', request('GET', {})],
    ['an address as host', request('GET', { host: '127.0.0.1:3000' })],
    ['IPv6', request('GET', { host: '[::1]:3000' }, '::1')],
    ['IPv4 written as IPv6', request('GET', {}, '::ffff:127.0.0.1')],
    ['another port, as a tunnel has', request('GET', { host: 'localhost:8080' })],
    ["the page's own POST", request('POST', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' })],
    ['a POST of curl', request('POST', {})],
    ['a link from elsewhere', request('GET', { 'sec-fetch-site': 'cross-site' })],
  ])('lets %s pass', (_, allowed) => {
    expect(loopbackRefusal(allowed)).toBeNull();
  });

  it.each([
    ['another machine', request('GET', {}, '10.0.0.7'), /machine Faultline runs on/],
    ['an unknown address', { ...request('GET', {}), socket: {} }, /machine Faultline runs on/],
    ['a proxy on this machine', request('GET', { 'x-forwarded-for': '10.0.0.7' }), /machine Faultline runs on/],
    ['a proxy that hides the address', request('GET', { 'x-forwarded-for': '' }), /machine Faultline runs on/],
    ['a proxy that names itself', request('GET', { via: '1.1 proxy' }), /machine Faultline runs on/],
    ['a tunnel to the outside', request('GET', { 'cf-connecting-ip': '10.0.0.7' }), /machine Faultline runs on/],
    ['a name rebound to 127.0.0.1', request('GET', { host: 'evil.example.com:3000' }), /Host/],
    ['a name that looks alike', request('GET', { host: 'localhost.evil.example.com' }), /Host/],
    ['a host with a user', request('GET', { host: 'localhost@evil.example.com' }), /Host/],
    ['a host with a path', request('GET', { host: 'localhost/.evil.example.com' }), /Host/],
    ['a host with a fragment', request('GET', { host: 'localhost#@evil.example.com' }), /Host/],
    ['no host', request('GET', { host: '' }), /Host/],
    ['a page of another site', request('POST', { origin: 'https://evil.example.com' }), /another site/],
    ['a page of another port', request('POST', { origin: 'http://localhost:4000' }), /another site/],
    ['a sandboxed page', request('POST', { origin: 'null' }), /another site/],
    ['a read by another site', request('GET', { origin: 'https://evil.example.com' }), /another site/],
    ['a form of another site', request('POST', { 'sec-fetch-site': 'cross-site' }), /another site/],
  ])('refuses %s', (_, refused, message) => {
    expect(loopbackRefusal(refused)).toMatchObject({ statusCode: 403, message: expect.stringMatching(message) });
  });
});

it.each(['10.0.0.1', '128.0.0.1', '::2', '::ffff:10.0.0.1', '127.0.0.1.evil', ''])(
  '%j is no loopback address',
  (address) => {
    expect(isLoopbackAddress(address)).toBe(false);
  },
);
