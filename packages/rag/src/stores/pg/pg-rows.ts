import { fromSql } from 'pgvector';
import { invalidArgument, type CheckedRecord } from '../../store/check-arguments.js';
import type { VectorMetadata, VectorRecord } from '../../store/vector-store.js';
import type { OpenIndex } from './pg-index.js';
import type { SqlDatabase, SqlRow } from './sql-database.js';
import { isStorableText } from './sql-text.js';

const rowsPerStatement = 1000;
const sizePerStatement = 8_000_000;

/** @throws `VECTOR_ARGUMENT_INVALID` for text that PostgreSQL cannot hold */
export function requireStorable({ id, metadata, document = '' }: Omit<CheckedRecord, 'vector'>): void {
  const json = JSON.stringify(metadata);
  // As JSON, both kinds of characters are escapes, and escapes are rare.
  const escaped = /\\u(?:0000|d[89a-f])/i.test(json) && !isStorableJson(metadata);
  if (isStorableText(id) && isStorableText(document) && !escaped) return;
  throw invalidArgument(
    `The record ${JSON.stringify(id)} holds a NUL character or half of a surrogate pair, which PostgreSQL cannot store; remove it.`,
  );
}

function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorableJson(inner));
}

export function upsertSql({ table, extension, vectorType }: OpenIndex): string {
  const cast = vectorType === 'vector' ? '' : `::${extension.schema}.${vectorType}`;
  return `INSERT INTO ${table} (id, embedding, metadata, document)
    SELECT r.id, r.embedding${cast}, r.metadata::jsonb, r.document
    FROM unnest($1::text[], $2::${extension.schema}.vector[], $3::text[], $4::text[]) AS r(id, embedding, metadata, document)
    ON CONFLICT (id) DO UPDATE SET embedding = excluded.embedding, metadata = excluded.metadata, document = excluded.document`;
}

interface RowValues extends Omit<CheckedRecord, 'metadata'> {
  readonly metadata: string;
}

/** By number and by size: a statement is one message. */
export function* toBatches(records: readonly CheckedRecord[]): Generator<RowValues[]> {
  let batch: RowValues[] = [];
  let size = 0;
  for (const record of records) {
    const row = { ...record, metadata: JSON.stringify(record.metadata) };
    batch.push(row);
    size += 4 * row.vector.length + row.metadata.length + (row.document?.length ?? 0);
    if (batch.length < rowsPerStatement && size < sizePerStatement) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The parameters of {@link upsertSql}. */
export function toColumns(rows: readonly RowValues[], { extension }: OpenIndex, database: SqlDatabase): unknown[] {
  return [
    rows.map(({ id }) => id),
    database.toVectorsValue(
      rows.map(({ vector }) => vector),
      extension.vectorOid,
    ),
    rows.map(({ metadata }) => metadata),
    rows.map(({ document = null }) => document),
  ];
}

export function toRecord({ id, metadata, document, vector }: SqlRow): VectorRecord {
  return {
    id: id as string,
    metadata: metadata as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(typeof vector === 'string' && { vector: Array.from(Float32Array.from(fromSql(vector) as number[])) }),
  };
}

/** Parameters: ids, vector, metadata, document; what is null stays as it is. Returns the ids that were there. */
export function updateSql({ table, extension, vectorType }: OpenIndex): string {
  const vector = `$2::${extension.schema}.vector${vectorType === 'vector' ? '' : `::${extension.schema}.${vectorType}`}`;
  return `UPDATE ${table} SET embedding = COALESCE(${vector}, embedding), metadata = COALESCE($3::text::jsonb, metadata), document = COALESCE($4::text, document) WHERE id = ANY ($1::text[]) RETURNING id`;
}
