import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { redact } from '../../src/redaction/redact.ts';
import { redactText } from '../../src/redaction/text.ts';
import { makeSecrets } from './planted-secrets.ts';

/** Processor time and not the clock's: the machine may be busy with other things. */
const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const megabyte = 1_000_000;
const fill = (unit: string): string => unit.repeat(Math.ceil(megabyte / unit.length)).slice(0, megabyte);

/**
 * Texts made to send a backtracking pattern or a rescanning loop into quadratic time, which would take minutes: one
 * line of a megabyte each.
 */
const adversarial = [
  'a',
  'A',
  '0',
  '-',
  '=',
  ' ',
  '"',
  '\\',
  '$',
  ':',
  '/',
  '.',
  '@',
  '_',
  'password',
  'password=',
  'password="',
  'password=\\"',
  'password: ',
  'password:',
  'password=$',
  'token:token',
  '--password ',
  '--token,',
  'name: x_token value',
  '{"name":"api_token","value":',
  'Secret\nkind: Secret\n',
  '---\n',
  '://',
  'https://',
  'https://a:',
  'postgres://',
  'postgres://u:',
  'mongodb://a:b',
  '://a:b',
  'a:b@tcp',
  'redis://:',
  'eyJ',
  'eyJ.',
  'eyJaaaaaaaaaaa.',
  'AKIA',
  'AIza',
  'sk-',
  'sk-a',
  'xoxb-',
  'xoxb-1-',
  'glpat-',
  'ghs_1_',
  'SG.a.',
  'hvs.',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA',
  '-----BEGIN RSA PRIVATE KEY-----a-',
  'PuTTY-User-Key-File-2',
  'LS0tLS1CRUdJTi',
  'Authorization: Basic ',
  'authorization:',
  'Bearer ',
  'bearer a',
  'Cookie: a=',
  'cookie: a=b;',
  '$2b$12$',
  '$apr1$',
  '{SHA}',
  'mysql -',
  'mysql mysql -p',
  'curl -u a',
  'curl ',
  'redis-cli ',
  '"auth":"',
  'auth=',
  '?key=',
  '&sig=',
  '[redacted:',
  '[redacted:a]',
  '[redacted:a]password=',
  'A7q=',
  'a.b-c_d/e',
  '{"a":',
  '[',
  '{"kind":"Secret","data":',
];

describe('time is bounded by the length of the text', () => {
  it.each(adversarial)('1 MB of %j', (unit) => {
    const text = fill(unit);
    expect(cpuMs(() => redactText(text))).toBeLessThan(15_000);
  });

  it('a megabyte takes little more than ten times as long as a tenth of it', () => {
    const lines = makeSecrets(3)
      .map(({ line }) => line)
      .join('\n');
    const time = (text: string): number => cpuMs(() => redactText(text));
    const small = lines.repeat(12);
    time(small);
    const tenth = Math.max(5, time(small));
    expect(time(small.repeat(10))).toBeLessThan(tenth * 40);
  });
});

describe('objects of a whole layer', () => {
  const pods = JSON.parse(readFileSync('test/cases/node-count-doubled-b/cluster/pods.json', 'utf8'));
  /** Fifteen copies that share no names: four megabytes, as a large neighbourhood has. */
  const layer = {
    objects: Array.from({ length: 15 }, (_, copy) => JSON.parse(JSON.stringify(pods).replaceAll('-', `${copy}-`))),
  };

  it('4 MB take well under a second', () => {
    const bytes = JSON.stringify(layer).length;
    redact(pods);
    const elapsedMs = cpuMs(() => redact(layer));
    console.log(`redact: ${(bytes / 1e6).toFixed(1)} MB in ${elapsedMs.toFixed(0)} ms`);
    expect(elapsedMs).toBeLessThan(1_500);
  });

  it('a text among many is judged as it is alone', () => {
    const lines = makeSecrets(5).map(({ line }) => line);
    const between = JSON.stringify(pods)
      .match(/"[^"]{8,80}"/g)!
      .slice(0, 2_000);
    const mixed = lines.flatMap((line, index) => [...between.slice(index * 5, index * 5 + 5), line]);
    expect(redact(mixed)).toEqual(mixed.map((line) => redact(line)));
  });
});
