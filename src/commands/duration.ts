const unitsMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Longest silence one can ask for: what must last longer is a change of the rule. */
const maxMs = 30 * 86_400_000;

/** `30m`, `4h`, `2d`, `1w`; null for anything else, for nothing, and for more than 30 days. */
export const durationMs = (text: string): number | null => {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhdw])$/.exec(text.trim().toLowerCase()) ?? [];
  const ms = Number(count) * (unitsMs[unit] ?? 0);
  return ms > 0 && ms <= maxMs ? ms : null;
};
