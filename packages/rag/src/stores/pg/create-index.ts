import { QuiverError } from '@quiver/core';
import { invalidArgument } from '../../store/check-arguments.js';
import { requireSameShape } from '../../store/index-options.js';
import type { CreateIndexParams } from '../../store/vector-store.js';
import { buildIndex, requireIndexable, vectorIndexName, type PgIndexConfig, type PgTarget } from './build-index.js';
import { derivedTableName } from './derived-table.js';
import { createMetadataIndexes, missingMetadataIndexes } from './metadata-index.js';
import {
  indexableDimension,
  readExtension,
  readIndex,
  toComment,
  type PgIndex,
  type PgVectorExtension,
  type PgVectorType,
} from './pg-index.js';
import type { SqlQuery } from './sql-database.js';
import { quoteIdentifier } from './sql-text.js';
import { readLanguage, textSearchColumn, textSearchIndex, textSearchIndexName } from './text-search.js';

export interface PgCreateIndexParams extends CreateIndexParams {
  indexConfig?: PgIndexConfig;
  /**
   * Default: a new index is built, an existing one is not. `true` also rebuilds an existing index that differs from `indexConfig`.
   * `false`: queries compare all vectors until `buildIndex()` is called.
   */
  buildIndex?: boolean;
  /** Default `vector`: numbers of 32 bits. An existing index keeps its type. */
  vectorType?: PgVectorType;
  /**
   * For keyword and hybrid search: a text search configuration of PostgreSQL, which knows the stems and stop words of its language.
   * `simple` knows none. Default `english`; `false` leaves the words out. An index that exists gets words by `addTextSearch()`.
   */
  textSearch?: { language?: string } | false;
  /** Fields of the metadata that filters ask for by equality, such as a tenant. Those that are missing are added to an index that exists. */
  metadataIndexes?: readonly string[];
}

export const defaultLanguage = 'english';

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
  const metadataIndexes = { schemaName, indexName, fields: params.metadataIndexes ?? [] };
  const findExisting = async (): Promise<PgIndex | undefined> => {
    const existing = await readIndex(query, schemaName, indexName);
    if (existing) requireSameShape(indexName, existing, { dimension, metric });
    return existing;
  };
  const hasOtherConfig = (existing: PgIndex): boolean => {
    const difference = findDifference(existing, params);
    if (difference === undefined) return false;
    if (params.buildIndex === true && difference.canRebuild) return true;
    throw new QuiverError(
      'VECTOR_INDEX_CONFIG_MISMATCH',
      `The index '${indexName}' exists with ${difference.existing}, not ${difference.requested}. ${difference.canRebuild ? 'Pass buildIndex: true to rebuild it, or leave indexConfig out to keep it.' : 'Use another indexName, or delete the index first.'}`,
      { details: { indexName, existing: difference.existing, requested: difference.requested } },
    );
  };
  // Most calls end here: they wait for nobody, and need no right but to read.
  const found = await findExisting();
  if (found && !hasOtherConfig(found) && (await missingMetadataIndexes(query, metadataIndexes)).length === 0) return;
  // Without a lock, two CREATE ... IF NOT EXISTS at once fail on each other.
  await query(`SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('quiver create index'))`);
  const extension = await requireExtension(query);
  await requireSchema(query, schemaName);
  const existing = await findExisting();
  if (existing) {
    if (hasOtherConfig(existing))
      await buildIndex(
        query,
        { ...existing, extension },
        { indexName, schemaName, indexConfig: { ...indexConfig, type } },
      );
    return createMetadataIndexes(query, metadataIndexes);
  }
  const table = `${quoteIdentifier(schemaName)}.${quoteIdentifier(indexName)}`;
  await requireFreeName(query, schemaName, indexName);
  const { textSearch = {} } = params;
  const language = textSearch === false ? undefined : await readLanguage(query, textSearch.language ?? defaultLanguage);
  // What filters read stands before the vector, in the part of the row that is in the processor's cache already.
  const columns = [
    'id text COLLATE "C" PRIMARY KEY',
    'metadata jsonb NOT NULL',
    'document text',
    `embedding ${extension.schema}.${vectorType}(${dimension}) NOT NULL`,
    ...(language ? [textSearchColumn(language)] : []),
  ];
  await query(`CREATE TABLE ${table} (${columns.join(', ')})`);
  await query(`COMMENT ON TABLE ${table} IS ${toComment(metric, language)}`);
  if (language) await query(textSearchIndex({ schemaName, indexName }));
  await createMetadataIndexes(query, metadataIndexes);
  if (params.buildIndex === false || type !== 'hnsw') return;
  await buildIndex(
    query,
    { table, dimension, metric, vectorType, extension },
    { indexName, schemaName, indexConfig: { ...indexConfig, type } },
  );
}

interface ConfigDifference {
  readonly existing: string;
  readonly requested: string;
  readonly canRebuild: boolean;
}

/** Only what the caller asks for is compared, so that a call without `indexConfig` keeps every index. */
function findDifference(
  existing: PgIndex,
  { indexConfig, vectorType, buildIndex: isBuilt }: PgCreateIndexParams,
): ConfigDifference | undefined {
  if (vectorType !== undefined && vectorType !== existing.vectorType)
    return { existing: `vectorType '${existing.vectorType}'`, requested: `'${vectorType}'`, canRebuild: false };
  if (!indexConfig) return undefined;
  const { type = existing.type, hnsw = {}, ivf = {} } = indexConfig;
  // Its build is still to come.
  if (existing.type === 'flat' && (isBuilt === false || type === 'ivfflat')) return undefined;
  const requested =
    type === 'hnsw'
      ? { m: hnsw.m, ef_construction: hnsw.efConstruction }
      : type === 'ivfflat'
        ? { lists: ivf.lists }
        : {};
  const used: Readonly<Record<string, number>> = { m: 16, ef_construction: 64, ...existing.config };
  const isSame =
    type === existing.type &&
    Object.entries(requested).every(([name, value]) => value === undefined || value === used[name]);
  if (isSame) return undefined;
  const describe = (name: string, config: object): string => `${name} ${JSON.stringify(config)}`;
  return {
    existing: describe(existing.type, existing.config),
    requested: describe(type, requested),
    canRebuild: true,
  };
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

/** @throws `VECTOR_NAME_TAKEN` */
async function requireFreeName(query: SqlQuery, schemaName: string, indexName: string): Promise<void> {
  const names = [indexName, vectorIndexName(indexName), textSearchIndexName(indexName)];
  const [taken] = await query(
    'SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = ANY ($2::text[])',
    [schemaName, names],
  );
  if (!taken && indexName !== derivedTableName) return;
  throw new QuiverError(
    'VECTOR_NAME_TAKEN',
    `The index '${indexName}' cannot be made, because the name '${String(taken?.['name'] ?? indexName)}' in the schema '${schemaName}' is that of something else. Choose another indexName or schemaName.`,
    { details: { schemaName, indexName } },
  );
}
