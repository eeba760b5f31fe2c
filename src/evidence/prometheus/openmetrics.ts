import type { Series } from '../../domain/facts.ts';
import { seriesKey } from './query.ts';

/** A line that is no OpenMetrics sample with a timestamp; `line` counts from 1. */
export class OpenMetricsError extends Error {
  override name = 'OpenMetricsError';
  readonly line: number;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.line = line;
  }
}

const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)(?:\s+(\S+))?(?:\s+#.*)?$/;
const labelPair = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/y;
const escapes: Record<string, string> = { n: '\n', '"': '"', '\\': '\\' };

function parseLabels(text: string, line: number): Record<string, string> {
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < text.length) {
    const pair = labelPair.exec(text);
    if (!pair) throw new OpenMetricsError(line, `labels {${text.slice(0, 80)}} cannot be read`);
    // An empty label value is the same as no label.
    if (pair[2])
      labels[pair[1]!] = pair[2].replace(/\\(.)/g, (_, escaped: string) => escapes[escaped] ?? `\\${escaped}`);
  }
  return labels;
}

function parseValue(text: string): number {
  const infinity = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (infinity) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}

/**
 * Reads OpenMetrics text whose samples carry timestamps (unix seconds), as `promtool tsdb create-blocks-from
 * openmetrics` does. Points come oldest first. Throws OpenMetricsError.
 */
export function parseOpenMetrics(text: string): Series[] {
  const byKey = new Map<string, Series>();
  for (const [index, raw] of text.split('\n').entries()) {
    const row = raw.trim();
    if (row === '' || row.startsWith('#')) continue;
    const parts = sample.exec(row);
    if (!parts) throw new OpenMetricsError(index + 1, `"${row.slice(0, 80)}" is not \`name{labels} value timestamp\``);
    const value = parseValue(parts[3]!);
    const time = Number(parts[4]);
    if (Number.isNaN(value) && parts[3]!.toLowerCase() !== 'nan') {
      throw new OpenMetricsError(index + 1, `"${parts[3]}" is not a number`);
    }
    if (!Number.isFinite(time)) throw new OpenMetricsError(index + 1, 'the sample has no timestamp (unix seconds)');
    const series: Series = { name: parts[1]!, labels: parseLabels(parts[2] ?? '', index + 1), points: [] };
    const key = seriesKey(series);
    const known = byKey.get(key) ?? series;
    known.points.push([time, value]);
    byKey.set(key, known);
  }
  for (const { points } of byKey.values()) points.sort((a, b) => a[0] - b[0]);
  return [...byKey.values()];
}
