import { toPlainMetadata, toVector, type CheckedRecord } from './check-arguments.js';
import type { UpdateVectorParams, VectorRecord } from './vector-store.js';

/**
 * What changes a stored record into the one to store, for services that only replace records as a whole.
 *
 * @throws `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`
 */
export function recordUpdate(
  update: UpdateVectorParams['update'],
  dimension: number,
): (record: VectorRecord) => CheckedRecord {
  const vector = update.vector && toVector(update.vector, dimension, 'The new vector');
  return (record) => ({
    ...record,
    vector: vector ?? Float32Array.from(record.vector ?? []),
    metadata: update.metadata ? toPlainMetadata(update.metadata, record.id) : record.metadata,
    ...(update.document !== undefined && { document: update.document }),
  });
}
