import { type SparseVector, weighDocumentTerms } from '../../words/lexical-sparse-encoder.js';
import type { CheckedRecord } from '../../store/checks.js';
import { equalityConditions } from '../../store/conditions.js';
import type { VectorMetadata, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import type { QdrantLikePoint } from './qdrant-client.js';

/** Name of the vectors. It distinguishes Quiver's collections from others. */
export const vectorName = 'quiver';
/** Key of the payload that is indexed. */
export const conditionsKey = 'conditions';

const termsPrefix = 'terms-';

/**
 * Name of the sparse vectors: weights of terms, which Qdrant multiplies by the rarity of the terms. It names their `TermAnalyzer`, because
 * collections of older servers store nothing else.
 */
export function termsName(analyzer: string): string {
  return `${termsPrefix}${analyzer}`;
}

/** Returns the id of the `TermAnalyzer` in the names of sparse vectors. */
export function toAnalyzer(names: readonly string[]): string | undefined {
  return names.find((name) => name.startsWith(termsPrefix))?.slice(termsPrefix.length);
}

/** A point as it is sent. */
export interface QdrantPoint {
  readonly id: string;
  readonly vector: Readonly<Record<string, number[] | SparseVector>>;
  readonly payload: QdrantPayload;
}

interface QdrantPayload {
  /** The id of the record. */
  readonly id: string;
  /** As JSON, with any names and shapes. */
  readonly metadata: string;
  readonly document?: string;
  /** Length of the vector: with the metric `cosine`, vectors are stored with the length 1. */
  readonly length?: number;
  readonly conditions: readonly string[];
}

/** Keys of the payload of a record. */
export const recordKeys: (keyof QdrantPayload)[] = ['id', 'metadata', 'document', 'length'];

/**
 * Returns the id of a point: Qdrant accepts numbers and UUIDs only. It is a UUID of version 8 from the first 128 bits of the SHA-256 of the
 * id, so that no caller can choose two ids that collide.
 *
 * @see [RFC 9562, section 5.8 – UUID Version 8](https://www.rfc-editor.org/rfc/rfc9562.html#section-5.8)
 */
export async function toPointId(id: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(id)), 0, 16);
  // Version and variant.
  for (const place of [6, 8]) bytes[place] = 0x80 | ((bytes[place] as number) & 0x0f);
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [0, 8, 12, 16, 20].map((start, at, starts) => digits.slice(start, starts[at + 1])).join('-');
}

/** @param terms - terms of the text of the record */
export function toPoint(
  pointId: string,
  { id, vector, metadata, document }: CheckedRecord,
  terms: readonly string[],
  { metric, analyzer }: { metric: VectorMetric; analyzer: string },
): QdrantPoint {
  const stored = metric === 'cosine' ? toUnitVector(vector) : { values: Array.from(vector) };
  const weights = weighDocumentTerms(terms);
  return {
    id: pointId,
    vector: { [vectorName]: stored.values, ...(weights && { [termsName(analyzer)]: weights }) },
    payload: {
      id,
      metadata: JSON.stringify(metadata),
      ...(document !== undefined && { document }),
      ...('length' in stored && { length: stored.length }),
      conditions: equalityConditions(metadata),
    },
  };
}

/** Scales a vector to the length 1. Qdrant does so too, in 32 bits, where the squares of very large and small numbers are lost. */
export function toUnitVector(vector: Float32Array): { values: number[]; length: number } {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  const values: number[] = [];
  // `Array.from` with a callback takes four times as long.
  for (let at = 0; at < vector.length; at += 1) values.push((vector[at] as number) / (length || 1));
  return { values, length };
}

/** Converts a point of this store. */
export function fromPoint({ payload, vector }: QdrantLikePoint): VectorRecord {
  const { id, metadata, document, length = 1 } = payload as unknown as QdrantPayload;
  const values = (vector as Record<string, number[]> | null | undefined)?.[vectorName];
  return {
    id,
    metadata: JSON.parse(metadata) as VectorMetadata,
    ...(document !== undefined && { document }),
    // The client returns large whole numbers as bigint.
    ...(values && { vector: Array.from(Float32Array.from(values, (value) => Number(value) * Number(length))) }),
  };
}
