import { QuiverError } from '@quiver/core';
import { invalidArgument } from '../../store/check-arguments.js';
import type { VectorMetric } from '../../store/vector-store.js';
import { indexableDimension, type OpenIndex, type PgIndexType, type PgVectorType } from './pg-index.js';
import type { SqlQuery } from './sql-database.js';
import { quoteIdentifier, requireInteger } from './sql-text.js';

export interface PgIndexConfig {
  /**
   * Default `hnsw`; `flat` above 4,000 dimensions, where no index is possible. `ivfflat` looks for its centres in the data, so
   * it is built by `buildIndex()` once they are there.
   */
  type?: PgIndexType;
  /** Defaults 16 and 64, those of pgvector. */
  hnsw?: { m?: number; efConstruction?: number };
  /** Default: one per 1,000 rows. */
  ivf?: { lists?: number };
}

export interface PgTarget {
  readonly schemaName: string;
  readonly indexName: string;
}

/** Builds the index of the vectors anew, in a transaction: rows can be read meanwhile, and written when it ends. */
export async function buildIndex(
  query: SqlQuery,
  index: Pick<OpenIndex, 'table' | 'dimension' | 'metric' | 'vectorType' | 'extension'>,
  { indexName, schemaName, indexConfig = {} }: PgTarget & { indexConfig?: PgIndexConfig },
): Promise<void> {
  const { table, dimension, metric, vectorType, extension } = index;
  const type = indexConfig.type ?? 'hnsw';
  requireIndexable(type, dimension);
  const schema = quoteIdentifier(schemaName);
  const name = quoteIdentifier(vectorIndexName(indexName));
  const drop = `DROP INDEX IF EXISTS ${schema}.${name}`;
  if (type === 'flat') {
    await query(drop);
    return;
  }
  const elements = indexedElements(index);
  const column = elements === vectorType ? 'embedding' : `(embedding::${extension.schema}.${elements}(${dimension}))`;
  const operators = `${extension.schema}.${elements}_${operatorClasses[metric]}`;
  const options = type === 'hnsw' ? hnswOptions(indexConfig) : await ivfflatOptions(query, table, indexConfig);
  // Whoever writes waits here and holds nothing yet, so that the change of the index at the end, for which readers wait a moment too,
  // cannot end in a deadlock.
  await query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  const next = quoteIdentifier(`${indexName}_vector_new`);
  await query(`CREATE INDEX ${next} ON ${table} USING ${type} (${column} ${operators}) WITH (${options})`);
  await query(drop);
  await query(`ALTER INDEX ${schema}.${next} RENAME TO ${name}`);
}

export function vectorIndexName(indexName: string): string {
  return `${indexName}_vector_idx`;
}

const operatorClasses: Readonly<Record<VectorMetric, string>> = {
  cosine: 'cosine_ops',
  euclidean: 'l2_ops',
  dotproduct: 'ip_ops',
};

/** Above 2,000 dimensions an index holds 16-bit numbers; the vectors themselves stay as they are. */
export function indexedElements({ dimension, vectorType }: Pick<OpenIndex, 'dimension' | 'vectorType'>): PgVectorType {
  return dimension > indexableDimension.vector ? 'halfvec' : vectorType;
}

function hnswOptions({ hnsw: { m = 16, efConstruction = 64 } = {} }: PgIndexConfig): string {
  return `m = ${requireInteger('m', m, 2, 100)}, ef_construction = ${requireInteger('efConstruction', efConstruction, 4, 1000)}`;
}

const rowsPerList = 50;

async function ivfflatOptions(query: SqlQuery, table: string, { ivf }: PgIndexConfig): Promise<string> {
  const [row] = await query(`SELECT count(*)::int AS count FROM ${table}`);
  const count = row?.['count'] as number;
  const lists = requireInteger('lists', ivf?.lists ?? Math.max(1, Math.floor(count / 1000)), 1, 32_768);
  if (count < lists * rowsPerList) {
    throw new QuiverError(
      'VECTOR_INDEX_TOO_EARLY',
      `An ivfflat index of ${lists} lists needs at least ${lists * rowsPerList} rows to find its centres in, but there are ${count}. Build it when the data are there, or use hnsw.`,
      { details: { lists, count } },
    );
  }
  return `lists = ${lists}`;
}

const largestDimension = 16_000;

/** @throws `VECTOR_ARGUMENT_INVALID` */
export function requireIndexable(type: PgIndexType, dimension: number): void {
  if (!['hnsw', 'ivfflat', 'flat'].includes(type))
    throw invalidArgument(`Unknown index type '${String(type)}'; known: hnsw, ivfflat, flat.`);
  if (dimension > largestDimension)
    throw invalidArgument(`pgvector stores vectors of at most ${largestDimension} dimensions, not ${dimension}.`);
  if (type !== 'flat' && dimension > indexableDimension.halfvec) {
    throw invalidArgument(
      `pgvector cannot index ${dimension} dimensions, at most ${indexableDimension.halfvec}. Use { type: 'flat' }, which compares all vectors, or an embedding model with fewer dimensions.`,
    );
  }
}
