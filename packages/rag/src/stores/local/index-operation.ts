import type { CheckedRecord } from '../../store/check-arguments.js';
import type { VectorMetadata, VectorMetric } from '../../store/vector-store.js';

/** What an index is, as written at the head of its log. */
export interface IndexHeader {
  readonly name: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
}

/** A record without its vector. */
export interface IndexRow {
  readonly id: string;
  readonly metadata: VectorMetadata;
  readonly document?: string;
}

/** A change of an index. Indexes change in no other way, so replaying the changes gives the index. */
export type IndexOperation =
  | {
      readonly type: 'upsert';
      readonly rows: readonly IndexRow[];
      /** The vectors of the rows one after another, as 32-bit floats, little-endian. Valid only during the call that gets them. */
      readonly vectors: Uint8Array;
    }
  | { readonly type: 'delete'; readonly ids: readonly string[] }
  | { readonly type: 'truncate' };

/** Stores records that were checked. */
export function toUpsert(records: readonly CheckedRecord[]): IndexOperation {
  const dimension = records[0]?.vector.length ?? 0;
  const numbers = new Float32Array(records.length * dimension);
  for (const [position, { vector }] of records.entries()) numbers.set(vector, position * dimension);
  const vectors = new Uint8Array(numbers.buffer);
  if (!isLittleEndian) swapBytes(vectors);
  return { type: 'upsert', rows: records.map(({ vector: _vector, ...row }) => row), vectors };
}

/** One of the vectors of an operation, as a copy. */
export function vectorAt(vectors: Uint8Array, place: number, dimension: number): Float32Array {
  // Not slice(), which is no copy where the bytes are a Buffer.
  const bytes = new Uint8Array(vectors.subarray(place * dimension * 4, (place + 1) * dimension * 4));
  if (!isLittleEndian) swapBytes(bytes);
  return new Float32Array(bytes.buffer);
}

/** Whether this machine keeps numbers in memory as {@link IndexOperation} does. */
export const isLittleEndian: boolean = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Turns the order of each four bytes around. */
export function swapBytes(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
}
