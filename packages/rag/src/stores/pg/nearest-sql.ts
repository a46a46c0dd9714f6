import type { VectorMetric } from '../../store/vector-store.js';
import { indexedElements } from './build-index.js';
import type { OpenIndex } from './pg-index.js';

/** A setting of the database, for one statement. Both parts are ours or checked. */
export type SearchSetting = readonly [name: string, value: string | number];

export interface NearestSqlOptions {
  readonly index: OpenIndex;
  /** Place of the query vector. */
  readonly vector: string;
  /** Columns of the result beside `id` and `distance`. */
  readonly columns: readonly string[];
  /** A condition on a row. */
  readonly where: string;
  readonly limit: number;
}

/** Rows nearest first, and by id where distances are equal: all are compared, whatever index there is. */
export function exactSql({
  index,
  columns,
  where,
  limit,
  ...options
}: NearestSqlOptions & { offset?: number }): string {
  // No index can give this order, so the planner has no choice; and each distance is calculated once.
  const distance = `(${distanceSql(index, options.vector)}) + 0 AS distance`;
  return `SELECT ${['id', ...columns, distance].join(', ')} FROM ${index.table} WHERE ${where} ORDER BY distance, id LIMIT ${limit} OFFSET ${options.offset ?? 0}`;
}

/**
 * Rows nearest first, and by id where distances are equal, as far as the index finds them.
 *
 * Its settings are part of the statement, so that one round trip is enough and nothing of them is left behind in a connection that
 * others use: the row of the settings has to be there before the scan beside it can begin.
 */
export function approximateSql({
  index,
  vector,
  columns,
  where,
  limit,
  settings,
}: NearestSqlOptions & { settings: readonly SearchSetting[] }): string {
  const { vectorType, dimension, extension } = index;
  const distance = distanceSql(index, vector);
  const elements = indexedElements(index);
  // An index is only used for an order by distance alone. Ties, and what it orders nearly right, are put right outside; where its
  // numbers are coarser, from more rows.
  const indexed =
    elements === vectorType
      ? distance
      : `embedding::${extension.schema}.${elements}(${dimension}) ${operatorSql(index)} ${vector}::${extension.schema}.vector::${extension.schema}.${elements}(${dimension})`;
  const candidates = elements === vectorType ? limit : limit * candidatesPerResult;
  const selected = ['id', ...columns, `${distance} AS distance`].join(', ');
  const scan = (condition: string): string =>
    `(SELECT ${selected} FROM ${index.table} WHERE ${condition} ORDER BY ${indexed} LIMIT ${candidates}) AS candidates`;
  const order = `ORDER BY distance, id LIMIT ${limit}`;
  if (settings.length === 0) return `SELECT * FROM ${scan(where)} ${order}`;
  const set = settings.map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`).join(' || ');
  return `SELECT candidates.* FROM (SELECT ${set} AS made) AS settings CROSS JOIN LATERAL ${scan(`settings.made IS NOT NULL AND ${where}`)} ${order}`;
}

export const candidatesPerResult = 4;

const operators: Readonly<Record<VectorMetric, string>> = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' };

function operatorSql({ metric, extension }: OpenIndex): string {
  return `OPERATOR(${extension.schema}.${operators[metric]})`;
}

function distanceSql(index: OpenIndex, vector: string): string {
  const { extension, vectorType } = index;
  const cast = vectorType === 'vector' ? '' : `::${extension.schema}.${vectorType}`;
  return `embedding ${operatorSql(index)} ${vector}::${extension.schema}.vector${cast}`;
}

/** As `toScore` takes it. A vector of zeros has no direction: PostgreSQL says NaN, and it is similar to nothing. */
export function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -(distance * distance);
  if (metric === 'dotproduct') return -distance;
  return Number.isNaN(distance) ? 0 : 1 - distance;
}
