import { describe, expect, it } from 'vitest';
import { OpenMetricsError, parseOpenMetrics } from '../../../src/evidence/prometheus/openmetrics.ts';
import { openMetricsReader } from '../../../src/evidence/prometheus/snapshot.ts';

describe('parseOpenMetrics', () => {
  it('groups samples into series, oldest first', () => {
    const text = '# TYPE up gauge\nup{job="a",zone="b"} 1 200\nup{zone="b",job="a"} 0 100\nup 1 1.5e2\n# EOF\n';
    expect(parseOpenMetrics(text)).toEqual([
      {
        name: 'up',
        labels: { job: 'a', zone: 'b' },
        points: [
          [100, 0],
          [200, 1],
        ],
      },
      { name: 'up', labels: {}, points: [[150, 1]] },
    ]);
  });

  it('reads names of recorded rules, escapes, braces in values, infinities and exemplars', () => {
    const text = 'job:x:rate5m{path="/a{b},c",q="say \\"hi\\"\\\\\\n",none=""} +Inf 1 # {trace_id="t"} 0.5 1\n';
    const [series] = parseOpenMetrics(text);
    expect(series).toEqual({
      name: 'job:x:rate5m',
      labels: { path: '/a{b},c', q: 'say "hi"\\\n' },
      points: [[1, Number.POSITIVE_INFINITY]],
    });
  });

  it.each([
    ['up 1', 'no timestamp'],
    ['up one 1', '"one" is not a number'],
    ['up{job=a} 1 1', 'line 1'],
    ['1up 1 1', 'is not `name{labels} value timestamp`'],
  ])('says what is wrong with: %s', (text, problem) => {
    expect(() => parseOpenMetrics(text)).toThrow(OpenMetricsError);
    expect(() => parseOpenMetrics(text)).toThrow(problem);
  });
});

describe('openMetricsReader', () => {
  const reader = openMetricsReader(parseOpenMetrics('up{job="a"} 1 1000\nup{job="a"} 0 1060\nup{job="b"} 1 1000\n'));

  it('gives at each step the newest sample of the last five minutes', async () => {
    const read = await reader.series({ name: 'up', matchers: { job: 'a' }, start: 940, end: 1420, stepSeconds: 60 });
    const points = [1000, 1060, 1120, 1180, 1240, 1300].map((time) => [time, time === 1000 ? 1 : 0]);
    expect(read).toEqual({ ok: true, complete: true, value: [{ name: 'up', labels: { job: 'a' }, points }] });
  });

  it('leaves out series without a sample in the range, and answers an absent metric with none', async () => {
    const range = { start: 5000, end: 6000, stepSeconds: 60 };
    expect(await reader.series({ name: 'up', ...range })).toEqual({ ok: true, complete: true, value: [] });
    expect(await reader.series({ name: 'down', ...range })).toEqual({ ok: true, complete: true, value: [] });
  });
});
