import type { Incident, LayerProgress } from '../../domain/incident.ts';
import { layers } from '../../domain/layer.ts';

const marks: Record<LayerProgress, string> = { waiting: '·', reading: '…', read: '✓', failed: '✗' };

export interface ProgressLine {
  name: string;
  incident: Incident | null;
  verdict: string | null;
}

const lineOf = ({ name, incident, verdict }: ProgressLine): string => {
  const read = layers.map((layer) => `${layer} ${marks[incident?.progress[layer] ?? 'waiting']}`).join('  ');
  return `${name.padEnd(40)} ${read}  ${verdict ?? ''}`.trimEnd();
};

/** One live line per incident: redrawn on a terminal, printed on every change elsewhere. */
export const progressDisplay = (out: NodeJS.WriteStream) => {
  const shown = new Map<string, string>();
  let drawn = 0;
  return (lines: ProgressLine[]): void => {
    if (out.isTTY) {
      const width = out.columns || 120;
      if (drawn > 0) out.write(`\u001b[${drawn}A`);
      for (const line of lines) out.write(`\u001b[2K${lineOf(line).slice(0, width - 1)}\n`);
      drawn = lines.length;
      return;
    }
    for (const line of lines) {
      const text = lineOf(line);
      if (shown.get(line.name) !== text) out.write(`${text}\n`);
      shown.set(line.name, text);
    }
  };
};
