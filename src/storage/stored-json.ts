import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * JSON that PostgreSQL accepts whatever the strings hold: it refuses NUL and lone surrogates, which JSON.stringify
 * writes as escapes. They become U+FFFD; an escaped backslash before them is left alone.
 */
export const toJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(\\|u0000|ud[89a-f][0-9a-f]{2})/g, (found) =>
    found === '\\\\' ? found : '\\ufffd',
  );

/** The same for a plain text column. */
export const toText = (value: string): string => value.replaceAll('\0', '\ufffd').toWellFormed();

export const pack = (value: unknown): Promise<Buffer> => compress(JSON.stringify(value));

export const unpack = async <T>(packed: Uint8Array): Promise<T> =>
  JSON.parse((await decompress(packed)).toString('utf8'));

/** An identity of bounded length that shows nothing of what it was made from. */
export const digest = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
