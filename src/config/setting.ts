import { z } from 'zod';
import { Secret } from './secret.ts';

/** What is known of a setting beside its type; the settings table, the loader and the problems are derived from it. */
export interface SettingMeta {
  about: string;
  /** What would be right, as the second half of "found …, allowed …". */
  allowed: string;
  /** Environment variable that overrides the file; settings inside a list have none, the list itself has. */
  env?: string;
  /** Also readable as `<ENV>_FILE`, and as `<key>File` in the file. Its value is never printed. */
  secret?: boolean;
  /** A path of the file system: relative to the configuration file that holds it. */
  path?: boolean;
}

export const setting = <T extends z.ZodType>(schema: T, meta: SettingMeta): T => schema.meta({ ...meta }) as T;

export const text = z.string().min(1);
export const secret = (pattern = /^\S+$/) => text.regex(pattern).transform((value) => new Secret(value));
/** Credentials in an address would end up in evidence and logs, and `fetch` refuses them. */
export const address = z
  .url({ protocol: /^https?$/ })
  .refine((value) => !URL.canParse(value) || new URL(value).username === '');
export const addressAllowed = 'an http:// or https:// address without user and password';
