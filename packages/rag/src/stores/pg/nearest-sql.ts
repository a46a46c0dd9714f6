import type { VectorMetric } from '../../store/vector-store.js';
import { indexedElements } from './create-index.js';
import type { PgIndex, PgVectorExtension } from './pg-index.js';

export interface NearestSqlOptions {
  readonly index: PgIndex;
  readonly extension: PgVectorExtension;
  /** Place of the query vector, as text. */
  readonly vector: string;
  /** A condition on a row. */
  readonly where: string;
  readonly limit: number;
  readonly offset?: number;
  readonly includeVector: boolean;
  /** Compares all rows, whatever index there is. */
  readonly exact: boolean;
}

/** Rows of `id, metadata, document, distance` and perhaps `vector`, nearest first and by id where distances are equal. */
export function nearestSql({
  index,
  extension,
  vector,
  where,
  limit,
  offset = 0,
  ...options
}: NearestSqlOptions): string {
  const { table, metric, vectorType, dimension, type } = index;
  const operator = `OPERATOR(${extension.schema}.${operators[metric]})`;
  const distance = `embedding ${operator} ${vector}::text::${extension.schema}.${vectorType}`;
  const columns = `id, metadata, document${options.includeVector ? ', embedding::text AS vector' : ''}`;
  const page = `LIMIT ${limit} OFFSET ${offset}`;
  if (options.exact || type === 'flat') {
    // No index can give this order, so the planner has no choice.
    return `SELECT ${columns}, ${distance} AS distance FROM ${table} WHERE ${where} ORDER BY (${distance}) + 0, id ${page}`;
  }
  const elements = indexedElements(index);
  // An index is only used for an order by distance alone. Ties, and what it orders nearly right, are put right outside; where its
  // numbers are coarser, from more rows.
  const indexed =
    elements === vectorType
      ? distance
      : `embedding::${extension.schema}.${elements}(${dimension}) ${operator} ${vector}::text::${extension.schema}.${elements}(${dimension})`;
  const candidates = elements === vectorType ? limit : limit * candidatesPerResult;
  return `SELECT * FROM (SELECT ${columns}, ${distance} AS distance FROM ${table} WHERE ${where} ORDER BY ${indexed} LIMIT ${candidates}) AS candidates ORDER BY distance, id ${page}`;
}

export const candidatesPerResult = 4;

const operators: Readonly<Record<VectorMetric, string>> = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' };

/** As `toScore` takes it. A vector of zeros has no direction: PostgreSQL says NaN, and it is similar to nothing. */
export function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -(distance * distance);
  if (metric === 'dotproduct') return -distance;
  return Number.isNaN(distance) ? 0 : 1 - distance;
}
