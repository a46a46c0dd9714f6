import { QuiverError } from '@quiver/core';

/**
 * JSON with sorted keys, so that equal values give equal strings.
 *
 * @throws `METADATA_INVALID` for values that JSON cannot carry: cycles, bigint, depth beyond the call stack
 */
export function canonicalJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_key, member: unknown) => (isPlainRecord(member) ? sorted(member) : member)) ?? 'null'
    );
  } catch (error) {
    throw new QuiverError('METADATA_INVALID', 'Metadata must be plain JSON data, without cycles and bigint.', {
      cause: error,
    });
  }
}

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries);
}
