import { z } from 'zod';
import { boundaries, layers, providers } from '../../domain/layer.ts';

const owner = z.enum([...layers, 'undetermined']);
const httpStatus = z.number().int().min(100).max(599);

const isRegExp = (pattern: string): boolean => {
  try {
    return Boolean(new RegExp(pattern, 's'));
  } catch {
    return false;
  }
};

/** The answer that people who closed the incident agreed on. */
const expected = z.object({
  owner,
  accept: z.array(owner).default([]),
  state: z.enum(['fault', 'expected', 'over']).default('fault'),
  boundary: z.enum(boundaries).nullable().default(null),
  contributing: z.array(owner).default([]),
  must_cite: z.array(z.string().refine(isRegExp, 'no regular expression')).default([]),
  must_not_blame: z.array(owner).default([]),
  cause: z.string().default(''),
  why: z.string().default(''),
  difficulty: z.number().default(0),
});

/** What the API server itself answered while the snapshot was taken. */
const apiserver = z.object({
  readyz: z.object({ status: httpStatus, body: z.string().default('') }).optional(),
  livez: z.object({ status: httpStatus, body: z.string().default('') }).optional(),
  latency_ms: z.number().min(0).default(0),
  /** Resources answered 403, as `plural[.group][/subresource]`. */
  deny: z.array(z.string()).default([]),
  fail: z
    .array(
      z.object({
        resource: z.string(),
        status: httpStatus.default(500),
        message: z.string().default(''),
        latency_ms: z.number().min(0).default(0),
      }),
    )
    .default([]),
});

/** case.json of an incident folder; further keys are ignored. */
export const caseFile = z.object({
  id: z.string().min(1),
  title: z.string().default(''),
  /** Absent, or one we know nothing special of: read from the nodes. */
  provider: z.enum(providers).optional().catch(undefined),
  cluster: z.string().min(1),
  region: z.string().optional(),
  account: z.string().optional(),
  captured_at: z.iso.datetime({ offset: true }),
  apiserver: apiserver.optional(),
  collected: z.array(z.string()).default([]),
  expected: expected.optional(),
});

export type CaseFile = z.infer<typeof caseFile>;
export type ApiServerAnswers = z.infer<typeof apiserver>;
export type ExpectedAnswer = z.infer<typeof expected>;
