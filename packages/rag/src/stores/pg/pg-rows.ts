import { fromSql, toSql } from 'pgvector';
import { invalidArgument, type CheckedRecord } from '../../store/check-arguments.js';
import { toScore } from '../../store/score.js';
import type { VectorMatch, VectorMetadata, VectorRecord } from '../../store/vector-store.js';
import { toSimilarity } from './nearest-sql.js';
import type { OpenIndex, PgIndex } from './pg-index.js';
import type { SqlRow } from './sql-database.js';
import { isStorableText } from './sql-text.js';

const rowsPerStatement = 1000;
const charactersPerStatement = 8_000_000;

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
  return `INSERT INTO ${table} (id, embedding, metadata, document)
    SELECT r.id, r.embedding::${extension.schema}.${vectorType}, r.metadata::jsonb, r.document
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS r(id, embedding, metadata, document)
    ON CONFLICT (id) DO UPDATE SET embedding = excluded.embedding, metadata = excluded.metadata, document = excluded.document`;
}

interface RowTexts {
  readonly id: string;
  readonly vector: string;
  readonly metadata: string;
  readonly document: string | null;
}

/** By number and by size: a statement is one message. */
export function* toBatches(records: readonly CheckedRecord[]): Generator<RowTexts[]> {
  let batch: RowTexts[] = [];
  let characters = 0;
  for (const { id, vector, metadata, document = null } of records) {
    const row = { id, vector: toSql([...vector]) as string, metadata: JSON.stringify(metadata), document };
    batch.push(row);
    characters += row.vector.length + row.metadata.length + (document?.length ?? 0);
    if (batch.length < rowsPerStatement && characters < charactersPerStatement) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

export function toColumns(rows: readonly RowTexts[]): (string | null)[][] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ vector }) => vector),
    rows.map(({ metadata }) => metadata),
    rows.map(({ document }) => document),
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

export function toMatch({ metric }: PgIndex, row: SqlRow): VectorMatch {
  return { ...toRecord(row), score: toScore(metric, toSimilarity(metric, row['distance'] as number)) };
}
