import { z } from 'zod';
import type { Alert, AlertGroup } from '../domain/alert.ts';

/** Alerts of one body; Alertmanager sends the whole group each time, so that a storm is one large body. */
export const maxAlerts = 10_000;

/** `endsAt` of an alert that fires: Go's zero time. */
const stillFiring = '0001-01-01T00:00:00Z';

/** The answer to a body that cannot be used at all. */
interface PayloadRefusal {
  status: 400 | 413;
  error: string;
  fix: string;
}

/** A group whose malformed alerts were set aside, each with the reason. Unknown fields are kept as they came. */
export type ParsedPayload =
  | { ok: true; group: AlertGroup; rejected: string[] }
  | { ok: false; refusal: PayloadRefusal };

/** Prometheus alerts carry a few dozen; checking half a million costs seconds in which nothing else is served. */
const maxLabels = 1000;
const hasFewNames = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Object.keys(value).length <= maxLabels;

const labels = z.unknown().refine(hasFewNames, `more than ${maxLabels} names`).pipe(z.record(z.string(), z.string()));
const nullable = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? {});
/** Years that every database, and our own spelling of times, can hold; an offset may lead beyond them. */
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
const isStorableTime = (value: string): boolean => Date.parse(value) >= firstMs && Date.parse(value) <= lastMs;

const time = z.iso.datetime({ offset: true }).refine(isStorableTime, 'not in the years 1 to 9999');

/** Largest `integer` of PostgreSQL; Alertmanager's own is a uint64. */
const maxTruncated = 2 ** 31 - 1;

const groupSchema = z.looseObject({
  version: z.literal('4'),
  groupKey: z.string().min(1),
  truncatedAlerts: z
    .number()
    .min(0)
    .default(0)
    .transform((count) => Math.min(Math.trunc(count), maxTruncated)),
  status: z.enum(['firing', 'resolved']),
  receiver: z.string(),
  groupLabels: nullable(labels),
  commonLabels: nullable(labels),
  commonAnnotations: nullable(labels),
  externalURL: z.string().default(''),
  alerts: z.array(z.unknown()),
});

const alertSchema = z.looseObject({
  status: z.string().default(''),
  labels: labels.refine((value) => Object.keys(value).length > 0, 'at least one label'),
  annotations: nullable(labels),
  startsAt: time,
  endsAt: time.default(stillFiring),
  generatorURL: z.string().optional(),
  fingerprint: z.string().min(1),
});

/** A reason is told and kept with the incident; a label's name may be as long as the body. */
const maxReason = 300;

const describeIssues = (error: z.ZodError): string =>
  error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`)
    .join('; ')
    .slice(0, maxReason)
    .toWellFormed();

/** Alertmanager nests 3 deep; whoever walks or stores the fields it does not name must not run out of stack. */
const maxDepth = 32;

const isDeeper = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((field) => isDeeper(field, depth - 1)));

/** Go writes its local offset; times compare as texts once all are UTC. */
const toUtc = (value: string): string => (value.endsWith('Z') ? value : new Date(value).toISOString());

/**
 * Alertmanager derives `status` from `endsAt`, so that a status of another spelling (a template or a proxy rewrote it)
 * loses nothing.
 */
const statusOf = (status: string, endsAt: string): Alert['status'] => {
  if (status === 'firing' || status === 'resolved') return status;
  return endsAt === stillFiring ? 'firing' : 'resolved';
};

const parseAlert = (value: unknown): Alert | string => {
  const parsed = alertSchema.safeParse(value);
  if (!parsed.success) return describeIssues(parsed.error);
  const { status, startsAt, endsAt } = parsed.data;
  return { ...parsed.data, status: statusOf(status, endsAt), startsAt: toUtc(startsAt), endsAt: toUtc(endsAt) };
};

const nameOf = (value: unknown): string => {
  const name = (value as { labels?: { alertname?: unknown } } | null)?.labels?.alertname;
  return typeof name === 'string' ? ` (${name.slice(0, 100)})` : '';
};

/** NUL and unpaired surrogates are legal in JSON and refused by PostgreSQL; everything else stays as it is. */
const storable = (_key: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll('\u0000', '\ufffd').toWellFormed();
  if (!value || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [storable('', key), field]));
};
const mayBeUnstorable = /\\u(?:0000|d[89a-f])/i;

const parseJson = (text: string): unknown => JSON.parse(text, mayBeUnstorable.test(text) ? storable : undefined);

const refuse = (status: PayloadRefusal['status'], error: string, fix: string): ParsedPayload => ({
  ok: false,
  refusal: { status, error, fix },
});

/** Reads an Alertmanager webhook body of version 4. One malformed alert does not cost the others. */
export const parsePayload = (text: string): ParsedPayload => {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return refuse(
      400,
      'the body is not JSON',
      'send what Alertmanager sends: Content-Type application/json, version "4"',
    );
  }
  if (isDeeper(body, maxDepth))
    return refuse(400, `the body nests deeper than ${maxDepth} levels`, 'send what Alertmanager sends');
  const parsed = groupSchema.safeParse(body);
  if (!parsed.success) {
    const fix = 'send the default body of Alertmanager\'s webhook_config (remove a custom "payload")';
    return refuse(400, `the body is not an Alertmanager webhook of version 4: ${describeIssues(parsed.error)}`, fix);
  }
  if (parsed.data.alerts.length > maxAlerts) {
    const fix = `set max_alerts: ${maxAlerts} in the webhook receiver of Alertmanager, or a narrower group_by`;
    return refuse(413, `the body holds ${parsed.data.alerts.length} alerts, more than ${maxAlerts}`, fix);
  }
  const alerts: Alert[] = [];
  const rejected: string[] = [];
  parsed.data.alerts.forEach((value, index) => {
    const alert = parseAlert(value);
    if (typeof alert === 'string') rejected.push(`alert ${index}${nameOf(value)} is malformed: ${alert}`);
    else alerts.push(alert);
  });
  return { ok: true, group: { ...parsed.data, alerts }, rejected };
};
