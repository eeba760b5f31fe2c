/**
 * An SDK answer as the API's JSON and the CLI write it, and as snapshots hold it: times as ISO 8601 in whole seconds
 * where they are, no metadata, nothing undefined, no bytes.
 */
export const plain = (value: unknown): any => {
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof Uint8Array) return undefined;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '$metadata')
      .map(([key, entry]) => [key, plain(entry)])
      .filter(([, entry]) => entry !== undefined),
  );
};
