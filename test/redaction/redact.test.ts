import { describe, expect, it } from 'vitest';
import { redact } from '../../src/redaction/redact.ts';
import { redactText } from '../../src/redaction/text.ts';
import { makeSecrets, type Planted } from './planted-secrets.ts';

const seeds = [1, 7, 2026];
const planted = makeSecrets(42);

/** No part of a secret may survive either: neither its head nor its tail. */
const remains = (output: string, { secret }: Planted): boolean => {
  const escaped = [secret, JSON.stringify(secret).slice(1, -1), JSON.stringify(JSON.stringify(secret)).slice(3, -3)];
  const part = Math.min(10, secret.length);
  return (
    escaped.some((text) => output.includes(text) || output.includes(text.slice(-part))) ||
    output.includes(secret.slice(7, 7 + part))
  );
};

const leaked = (output: string, secrets: Planted[]): string[] =>
  secrets.filter((secret) => remains(output, secret)).map(({ kind, line }) => `${kind}: ${line}`);

const pod = (secrets: Planted[]) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'api-7c9',
    namespace: 'shop',
    annotations: {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
        kind: 'Pod',
        spec: { containers: [{ env: secrets.map(({ line }, index) => ({ name: `V${index}`, value: line })) }] },
      }),
    },
  },
  spec: {
    containers: [
      {
        name: 'api',
        args: secrets.flatMap(({ secret }) => ['--admin-password', secret]),
        env: secrets.map(({ secret }, index) => ({ name: `SERVICE_${index}_API_TOKEN`, value: secret })),
      },
    ],
  },
  status: { conditions: secrets.map(({ line }) => ({ type: 'Ready', status: 'False', message: line })) },
});

describe('redaction of planted secrets', () => {
  it('plants at least 100 secrets of 25 kinds', () => {
    expect(planted.length).toBeGreaterThanOrEqual(100);
    expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(25);
    expect(leaked(planted.map(({ line }) => line).join('\n'), planted)).toHaveLength(planted.length);
  });

  it.each(seeds)('leaves none in a line of a log (seed %i)', (seed) => {
    const secrets = makeSecrets(seed);
    expect(secrets.flatMap((secret) => leaked(redactText(secret.line), [secret]))).toEqual([]);
  });

  it('leaves none in one long log', () => {
    const log = planted.map(({ line }, index) => `2026-11-20T08:30:${index % 60}Z INFO ${line}`).join('\n');
    const lines = planted.map(({ line }) => line).join('\n');
    expect(leaked(redactText(lines), planted)).toEqual([]);
    // YAML is no YAML behind a timestamp; everything else is found there too.
    expect(
      leaked(
        redactText(log),
        planted.filter(({ line }) => !/\n/.test(line) && !/^\w+: \S+$/.test(line)),
      ),
    ).toEqual([]);
  });

  it.each(seeds)('leaves none in a Kubernetes object (seed %i)', (seed) => {
    const secrets = makeSecrets(seed);
    expect(leaked(JSON.stringify(redact(pod(secrets))), secrets)).toEqual([]);
  });

  it('leaves none in alerts, ConfigMaps and Secrets', () => {
    const alert = {
      labels: { alertname: 'X' },
      annotations: Object.fromEntries(planted.map(({ line }, i) => [`a${i}`, line])),
    };
    const configMap = { kind: 'ConfigMap', data: { 'all.txt': planted.map(({ line }) => line).join('\n---\n') } };
    const secret = {
      kind: 'Secret',
      data: Object.fromEntries(planted.map(({ secret: value }, i) => [`k${i}`, Buffer.from(value).toString('base64')])),
      stringData: Object.fromEntries(planted.map(({ secret: value }, i) => [`s${i}`, value])),
    };
    const output = JSON.stringify(redact({ alert, items: [configMap, secret] }));
    expect(leaked(output, planted)).toEqual([]);
    expect(planted.filter(({ secret: value }) => output.includes(Buffer.from(value).toString('base64')))).toEqual([]);
    expect(output).toContain('"k0":"[redacted:secret-data]"');
  });

  it('leaves none when an object is logged as JSON text', () => {
    const named = planted.map(({ secret }, index) => ({ name: `X${index}_PASSWORD`, value: secret }));
    expect(leaked(redactText(JSON.stringify({ env: named })), planted)).toEqual([]);
    expect(
      leaked(
        redactText(JSON.stringify({ message: planted.map(({ line }) => line) })),
        planted.filter(({ line }) => !line.includes('\n')),
      ),
    ).toEqual([]);
  });

  it('looks into base64 anywhere', () => {
    const connection = planted.find(({ kind }) => kind === 'connection string')!;
    const note = { note: Buffer.from(`url = ${connection.line}`).toString('base64') };
    expect(redact(note)).toEqual({ note: '[redacted:base64]' });
  });

  it('is not switched off by what a log says', () => {
    const { line, secret } = planted.find(({ kind }) => kind === 'npm')!;
    expect(redactText(`/* secretlint-disable */ ${line}\n# secretlint-disable-line ${line}`)).not.toContain(secret);
  });

  it('changes nothing the second time', () => {
    const once = planted.map(({ line }) => redactText(line));
    expect(once.map(redactText)).toEqual(once);
    const object = redact(pod(planted));
    expect(redact(object)).toBe(object);
  });

  it('does not change its input and returns it when it is clean', () => {
    const dirty = pod(planted);
    const before = JSON.stringify(dirty);
    redact(dirty);
    expect(JSON.stringify(dirty)).toBe(before);
    const clean = { kind: 'Pod', metadata: { name: 'a', labels: { app: 'x' } }, spec: { nodeName: 'ip-10-0-0-1' } };
    expect(redact(clean)).toBe(clean);
  });

  it('keeps the text around a secret', () => {
    const { secret } = planted.find(({ kind }) => kind === 'github')!;
    expect(redactText(`clone failed: token ${secret} rejected, retrying in 5s`)).toBe(
      'clone failed: token [redacted:github] rejected, retrying in 5s',
    );
    expect(redactText('postgres://app:hunter2@db.shop.svc:5432/orders')).toBe(
      'postgres://app:[redacted:url-password]@db.shop.svc:5432/orders',
    );
    expect(redactText('DB_PASSWORD=hunter2 DB_HOST=db')).toBe('DB_PASSWORD=[redacted:password] DB_HOST=db');
  });
});
