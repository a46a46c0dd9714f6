import { QuiverError } from '@quiver/core';
import { invalidArgument } from '../../store/check-arguments.js';
import { requireSameShape } from '../../store/index-options.js';
import type { CreateIndexParams, VectorMetric } from '../../store/vector-store.js';
import {
  indexableDimension,
  readExtension,
  readIndex,
  toComment,
  type PgIndex,
  type PgIndexType,
  type PgVectorExtension,
  type PgVectorType,
} from './pg-index.js';
import type { SqlQuery } from './sql-database.js';
import { quoteIdentifier } from './sql-text.js';

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

export interface PgCreateIndexParams extends CreateIndexParams {
  indexConfig?: PgIndexConfig;
  /** Default `true`. `false`: queries compare all vectors until `buildIndex()` is called. */
  buildIndex?: boolean;
  /** Default `vector`: numbers of 32 bits. */
  vectorType?: PgVectorType;
}

export interface PgTarget {
  readonly schemaName: string;
  readonly indexName: string;
}

/** Runs inside a transaction; any number of processes may do so at once. */
export async function createIndex(
  query: SqlQuery,
  { schemaName, ...params }: PgCreateIndexParams & PgTarget,
): Promise<void> {
  const { indexName, dimension, metric = 'cosine', indexConfig = {}, vectorType = 'vector' } = params;
  if (vectorType !== 'vector' && vectorType !== 'halfvec')
    throw invalidArgument(`Unknown vectorType '${String(vectorType)}'; known: vector, halfvec.`);
  const type = indexConfig.type ?? (dimension > indexableDimension.halfvec ? 'flat' : 'hnsw');
  requireIndexable(type, dimension);
  // Without a lock, two CREATE ... IF NOT EXISTS at once fail on each other.
  await query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('quiver create index'))`);
  const extension = await requireExtension(query);
  await requireSchema(query, schemaName);
  const existing = await readIndex(query, schemaName, indexName);
  if (existing) return requireSameShape(indexName, existing, { dimension, metric });
  const table = `${quoteIdentifier(schemaName)}.${quoteIdentifier(indexName)}`;
  await requireFreeName(query, schemaName, indexName);
  await query(
    `CREATE TABLE ${table} (id text COLLATE "C" PRIMARY KEY, embedding ${extension.schema}.${vectorType}(${dimension}) NOT NULL, metadata jsonb NOT NULL, document text)`,
  );
  await query(`COMMENT ON TABLE ${table} IS ${toComment(metric)}`);
  if (params.buildIndex === false || type !== 'hnsw') return;
  const index: PgIndex = { table, dimension, metric, vectorType, type: 'flat', config: {} };
  await buildIndex(query, index, { indexName, schemaName, indexConfig: { ...indexConfig, type } });
}

export async function buildIndex(
  query: SqlQuery,
  index: PgIndex,
  { indexName, schemaName, indexConfig = {} }: PgTarget & { indexConfig?: PgIndexConfig },
): Promise<void> {
  const { table, dimension, metric, vectorType } = index;
  const type = indexConfig.type ?? 'hnsw';
  requireIndexable(type, dimension);
  const extension = await requireExtension(query);
  const name = quoteIdentifier(`${indexName}_vector_idx`);
  await query(`DROP INDEX IF EXISTS ${quoteIdentifier(schemaName)}.${name}`);
  if (type === 'flat') return;
  const elements = indexedElements(index);
  const column = elements === vectorType ? 'embedding' : `(embedding::${extension.schema}.${elements}(${dimension}))`;
  const operators = `${extension.schema}.${elements}_${operatorClasses[metric]}`;
  const options = type === 'hnsw' ? hnswOptions(indexConfig) : await ivfflatOptions(query, table, indexConfig);
  await query(`CREATE INDEX ${name} ON ${table} USING ${type} (${column} ${operators}) WITH (${options})`);
}

const operatorClasses: Readonly<Record<VectorMetric, string>> = {
  cosine: 'cosine_ops',
  euclidean: 'l2_ops',
  dotproduct: 'ip_ops',
};

/** Above 2,000 dimensions an index holds 16-bit numbers; the vectors themselves stay as they are. */
export function indexedElements({ dimension, vectorType }: PgIndex): PgVectorType {
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

/** These stand in the text of statements, so nothing but an integer may pass. @throws `VECTOR_ARGUMENT_INVALID` */
export function requireInteger(name: string, value: unknown, smallest: number, largest: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= smallest && value <= largest) return value;
  throw invalidArgument(`${name} must be an integer from ${smallest} to ${largest}, not ${String(value)}.`);
}

function requireIndexable(type: PgIndexType, dimension: number): void {
  if (!['hnsw', 'ivfflat', 'flat'].includes(type))
    throw invalidArgument(`Unknown index type '${String(type)}'; known: hnsw, ivfflat, flat.`);
  if (type !== 'flat' && dimension > indexableDimension.halfvec) {
    throw invalidArgument(
      `pgvector cannot index ${dimension} dimensions, at most ${indexableDimension.halfvec}. Use { type: 'flat' }, which compares all vectors, or an embedding model with fewer dimensions.`,
    );
  }
}

async function requireExtension(query: SqlQuery): Promise<PgVectorExtension> {
  const existing = await readExtension(query);
  if (existing) return existing;
  try {
    await query('CREATE EXTENSION vector');
  } catch (error) {
    throw new QuiverError(
      'VECTOR_EXTENSION_MISSING',
      'The database has no extension pgvector, and it cannot be created. Install pgvector, then run CREATE EXTENSION vector as a superuser; create a PGlite with { extensions: { vector } }.',
      { cause: error },
    );
  }
  const created = await readExtension(query);
  if (!created)
    throw new QuiverError('VECTOR_EXTENSION_MISSING', 'The extension pgvector was created and is not there.');
  return created;
}

/** Asked first: who may use a schema need not be allowed to create one. */
async function requireSchema(query: SqlQuery, schemaName: string): Promise<void> {
  const [existing] = await query('SELECT 1 AS found FROM pg_catalog.pg_namespace WHERE nspname = $1::text', [
    schemaName,
  ]);
  if (!existing) await query(`CREATE SCHEMA ${quoteIdentifier(schemaName)}`);
}

async function requireFreeName(query: SqlQuery, schemaName: string, indexName: string): Promise<void> {
  const [taken] = await query(
    'SELECT 1 AS found FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = $2::text',
    [schemaName, indexName],
  );
  if (!taken) return;
  throw new QuiverError(
    'VECTOR_NAME_TAKEN',
    `The schema '${schemaName}' has a table '${indexName}' that is no index of this store. Choose another indexName or schemaName.`,
    { details: { schemaName, indexName } },
  );
}
