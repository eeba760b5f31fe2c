import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { maxAlerts, parsePayload } from '../../src/intake/payload.ts';

const alert = {
  status: 'firing',
  labels: { alertname: 'A' },
  annotations: {},
  startsAt: '2026-11-20T08:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://p',
  fingerprint: 'f1',
};
const group = {
  version: '4',
  groupKey: '{}:{alertname="A"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'faultline',
  groupLabels: { alertname: 'A' },
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://am',
  alerts: [alert],
};
const parse = (change: object = {}) => parsePayload(JSON.stringify({ ...group, ...change }));
const manyLabels = Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`l${index}`, 'v']));
const accepted = (change: object = {}) => {
  const parsed = parse(change);
  if (!parsed.ok) throw new Error(parsed.refusal.error);
  return parsed;
};
const firstAlert = (change: object) => accepted({ alerts: [{ ...alert, ...change }] }).group.alerts[0];

describe('parsePayload', () => {
  it('keeps every field, also those of newer Alertmanagers', () => {
    const more = { notification_reason: 'new alerts added', routeLabels: { team: 'x' } };
    const { group: parsed, rejected } = accepted({ ...more, alerts: [{ ...alert, value: '1.5' }] });
    expect(parsed).toEqual({ ...group, ...more, alerts: [{ ...alert, value: '1.5' }] });
    expect(rejected).toEqual([]);
  });

  it.each([
    ['no JSON', 'alert!', 400, /not JSON/],
    ['an empty body', '', 400, /not JSON/],
    ['a list', '[]', 400, /version 4/],
    ['what nests without end', `{"version":"4","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 400, /deeper than 32/],
    ['another version', JSON.stringify({ ...group, version: '3' }), 400, /version/],
    ['no alerts', JSON.stringify({ ...group, alerts: undefined }), 400, /alerts/],
    ['no group key', JSON.stringify({ ...group, groupKey: '' }), 400, /groupKey/],
    ['an unknown status', JSON.stringify({ ...group, status: 'ok' }), 400, /status/],
    ['too many alerts', JSON.stringify({ ...group, alerts: Array(maxAlerts + 1).fill(alert) }), 413, /10001 alerts/],
  ])('refuses %s with a reason and a fix', (_, text, status, error) => {
    expect(parsePayload(text)).toEqual({
      ok: false,
      refusal: { status, error: expect.stringMatching(error), fix: expect.stringMatching(/\S/) },
    });
  });

  it('takes as many alerts as the bound allows', () => {
    expect(accepted({ alerts: Array(maxAlerts).fill(alert) }).group.alerts).toHaveLength(maxAlerts);
  });

  it.each([
    ['labels that are no texts', { labels: { alertname: 'B', n: 1 } }, /alert 1 \(B\) is malformed: labels\.n/],
    ['no labels', { labels: {} }, /at least one label/],
    ['no start', { startsAt: 'yesterday' }, /startsAt/],
    ['a start in year 0', { startsAt: '0000-01-01T00:00:00Z' }, /startsAt: not in the years/],
    ['a start that its offset leads out of the calendar', { startsAt: '9999-12-31T23:59:59-23:59' }, /startsAt/],
    ['an end that no database holds', { endsAt: '0000-12-31T23:59:59Z' }, /endsAt/],
    ['half a million labels', { labels: manyLabels }, /labels: more than 1000 names/],
    ['no fingerprint', { fingerprint: '' }, /fingerprint/],
    ['no shape at all', 'x', /alert 1 is malformed/],
  ])('sets an alert with %s aside and keeps the rest', (_, change, reason) => {
    const broken = typeof change === 'string' ? change : { ...alert, ...change };
    const { group: parsed, rejected } = accepted({ alerts: [alert, broken, { ...alert, fingerprint: 'f3' }] });
    expect(parsed.alerts.map(({ fingerprint }) => fingerprint)).toEqual(['f1', 'f3']);
    expect(rejected).toEqual([expect.stringMatching(reason)]);
  });

  it('gives a reason that can be read, however long the name at fault', () => {
    const { rejected } = accepted({ alerts: [{ ...alert, labels: { ['n'.repeat(1_000_000)]: 1 } }] });
    expect(rejected[0]!.length).toBeLessThan(500);
  });

  it('takes null maps as empty, as Go writes them', () => {
    expect(accepted({ groupLabels: null }).group.groupLabels).toEqual({});
    expect(firstAlert({ annotations: null })).toMatchObject({ annotations: {} });
  });

  it('takes a count that no column holds as the largest one', () => {
    expect(accepted({ truncatedAlerts: 2 ** 60 }).group.truncatedAlerts).toBe(2 ** 31 - 1);
  });

  it('derives a status of another spelling from endsAt, as Alertmanager does', () => {
    expect(firstAlert({ status: 'active' })).toMatchObject({ status: 'firing' });
    expect(firstAlert({ status: '503', endsAt: '2026-11-20T08:30:00Z' })).toMatchObject({ status: 'resolved' });
  });

  it('writes local times of Go as UTC', () => {
    expect(firstAlert({ startsAt: '2026-11-20T16:00:00.123456789+08:00' })).toMatchObject({
      startsAt: '2026-11-20T08:00:00.123Z',
      endsAt: '0001-01-01T00:00:00Z',
    });
  });

  it('replaces what PostgreSQL cannot store', () => {
    const text = JSON.stringify({ ...group, alerts: [{ ...alert, labels: { alertname: 'A', v: 'a\u0000b\ud800' } }] });
    const parsed = parsePayload(text);
    expect(parsed).toMatchObject({ group: { alerts: [{ labels: { v: 'a\ufffdb\ufffd' } }] } });
  });

  it('accepts the body of every incident case', () => {
    const cases = readdirSync('test/cases');
    expect(cases.length).toBeGreaterThan(50);
    for (const id of cases) {
      const parsed = parsePayload(readFileSync(`test/cases/${id}/alert.json`, 'utf8'));
      expect({ id, parsed }).toMatchObject({ id, parsed: { ok: true, rejected: [] } });
    }
  });
});
