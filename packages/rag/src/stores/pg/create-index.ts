import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { requireSameLanguage, toAnalyzerId } from '../../words/term-analyzer.js';
import { type IndexShape, requireSameShape } from '../../store/checks.js';
import type { CreateIndexParams } from '../../store/vector-store.js';
import { buildIndex, isAsRequested, type PgIndexConfig, requestIndex, typeOf, vectorIndexName } from './build-index.js';
import type { SqlQuery } from './database.js';
import { derivedTableName } from './derived-table.js';
import { fieldToSql } from './filter-to-sql.js';
import {
  lockCreation,
  type PgIndex,
  type PgIndexType,
  type PgTarget,
  type PgVectorExtension,
  type PgVectorType,
  quoteIdentifier,
  readExtension,
  readIndex,
  toComment,
  wordsColumn,
  wordsIndexName,
} from './pg-index.js';

/** Parameters of `createIndex()` of `PgVector`. */
export interface PgCreateIndexParams extends CreateIndexParams {
  /** Kind of the index and its settings. */
  indexConfig?: PgIndexConfig;
  /**
   * Default: a new index is built, an existing one is not. `true` also rebuilds an existing index that differs from `indexConfig`.
   * `false`: queries compare all vectors until `buildIndex()` is called.
   */
  buildIndex?: boolean;
  /** Default `vector`: numbers of 32 bits. An existing index keeps its type. */
  vectorType?: PgVectorType;
  /**
   * Language of the texts, for keyword and hybrid search, as in `LocalVector`: a code such as `zh`, a language tag, an English name, or
   * `auto`. Default `auto`. An existing index keeps its language.
   */
  language?: string;
  /** Metadata fields that filters compare by equality, such as a tenant. Missing ones are added to an existing index. */
  metadataIndexes?: readonly string[];
}

/** Runs inside a transaction; any number of processes may do so at once. */
export async function createIndex(query: SqlQuery, params: PgCreateIndexParams & IndexShape & PgTarget): Promise<void> {
  const { schemaName, indexName, dimension, metric, indexConfig = {} } = params;
  const { vectorType = 'vector' } = params;
  if (vectorType !== 'vector' && vectorType !== 'halfvec')
    throw invalidOptions(`Unknown vectorType '${String(vectorType)}'; known: vector, halfvec.`);
  const { type } = requestIndex(indexConfig, { dimension, vectorType, metric });
  const analyzer = toAnalyzerId(params.language ?? 'auto');
  // Most calls end here: they wait for no lock and need only the right to read.
  const found = await readExisting(query, params);
  if (found && !found.mustRebuild && !found.typeToRecord && (await missingMetadataIndexes(query, params)).length === 0)
    return;
  await lockCreation(query);
  const extension = await requireExtension(query);
  await requireSchema(query, schemaName);
  const existing = await readExisting(query, params);
  const table = quoteIdentifier(schemaName, indexName);
  if (!existing) {
    await requireFreeName(query, params);
    // Columns that filters read come before the vector, in the part of the row that is already in the processor's cache.
    const columns = [
      'id text COLLATE "C" PRIMARY KEY',
      'metadata jsonb NOT NULL',
      'document text',
      `embedding ${extension.schema}.${vectorType}(${dimension}) NOT NULL`,
      `${wordsColumn} tsvector NOT NULL`,
    ];
    await query(`CREATE TABLE ${table} (${columns.join(', ')})`);
    await query(`COMMENT ON TABLE ${table} IS ${toComment({ metric, analyzer, requestedType: type })}`);
    await query(`CREATE INDEX ${quoteIdentifier(wordsIndexName(indexName))} ON ${table} USING gin (${wordsColumn})`);
  }
  await createMetadataIndexes(query, params);
  if (existing?.typeToRecord)
    await query(`COMMENT ON TABLE ${table} IS ${toComment({ ...existing, requestedType: existing.typeToRecord })}`);
  if (existing ? !existing.mustRebuild : params.buildIndex === false || type !== 'hnsw') return;
  const index = existing ?? ((await readIndex(query, schemaName, indexName)) as PgIndex);
  await buildIndex(query, { ...index, extension }, { schemaName, indexName, indexConfig: { ...indexConfig, type } });
}

/** @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH`, `VECTOR_INDEX_CONFIG_MISMATCH` for an index that differs from the parameters */
async function readExisting(
  query: SqlQuery,
  params: PgCreateIndexParams & IndexShape & PgTarget,
): Promise<(PgIndex & { mustRebuild: boolean; typeToRecord: PgIndexType | undefined }) | undefined> {
  const { schemaName, indexName, vectorType, indexConfig, buildIndex } = params;
  const existing = await readIndex(query, schemaName, indexName);
  if (!existing) return undefined;
  requireSameShape(indexName, existing, params);
  const mismatch = (found: string, requested: string, advice: string): QuiverError =>
    new QuiverError(
      'VECTOR_INDEX_CONFIG_MISMATCH',
      `The index '${indexName}' exists with ${found}, not ${requested}. ${advice}`,
      { details: { indexName, existing: found, requested } },
    );
  if (vectorType !== undefined && vectorType !== existing.vectorType) {
    const advice = 'Use another indexName, or delete the index first.';
    throw mismatch(`vectorType '${existing.vectorType}'`, `'${vectorType}'`, advice);
  }
  requireSameLanguage(indexName, existing.analyzer, params.language);
  const requested = indexConfig && findDifference(existing, indexConfig, buildIndex);
  if (requested !== undefined && buildIndex !== true) {
    const advice = 'Pass buildIndex: true to rebuild it, or leave indexConfig out to keep it.';
    throw mismatch(`${existing.type} ${JSON.stringify(existing.config)}`, requested, advice);
  }
  // The next `buildIndex()` without a type builds the type that was requested last.
  const type = indexConfig && typeOf(indexConfig);
  const isNewType = existing.type === 'flat' && type !== existing.requestedType;
  return { ...existing, mustRebuild: requested !== undefined, typeToRecord: isNewType ? type : undefined };
}

function findDifference(
  existing: PgIndex,
  indexConfig: PgIndexConfig,
  isBuilt: boolean | undefined,
): string | undefined {
  const requested = requestIndex(indexConfig, existing, existing.type);
  // Its build is still to come.
  const isLater = existing.type === 'flat' && (isBuilt === false || requested.type === 'ivfflat');
  if (isLater || isAsRequested(existing, requested)) return undefined;
  return `${requested.type} ${JSON.stringify({ ...requested.parameters, quantization: indexConfig.quantization })}`;
}

async function requireExtension(query: SqlQuery): Promise<PgVectorExtension> {
  const existing = await readExtension(query);
  if (existing) return existing;
  await query('CREATE EXTENSION vector').catch((error: unknown) => {
    throw new QuiverError(
      'VECTOR_EXTENSION_MISSING',
      'The database has no extension pgvector, and it cannot be created. Install pgvector, then run CREATE EXTENSION vector as a superuser; create a PGlite with { extensions: { vector } }.',
      { cause: error },
    );
  });
  return (await readExtension(query)) as PgVectorExtension;
}

/** `IF NOT EXISTS` would need the right to create schemas. */
async function requireSchema(query: SqlQuery, schemaName: string): Promise<void> {
  const [existing] = await query('SELECT 1 AS found FROM pg_catalog.pg_namespace WHERE nspname = $1::text', [
    schemaName,
  ]);
  if (!existing) await query(`CREATE SCHEMA ${quoteIdentifier(schemaName)}`);
}

/** @throws `VECTOR_NAME_TAKEN` */
async function requireFreeName(query: SqlQuery, { schemaName, indexName }: PgTarget): Promise<void> {
  const names = [indexName, vectorIndexName(indexName), wordsIndexName(indexName)];
  const [taken] = await query(
    'SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = ANY ($2::text[])',
    [schemaName, names],
  );
  if (!taken && indexName !== derivedTableName) return;
  throw new QuiverError(
    'VECTOR_NAME_TAKEN',
    `The index '${indexName}' cannot be created, because the name '${String(taken?.['name'] ?? indexName)}' in the schema '${schemaName}' is in use. Choose another indexName or schemaName.`,
    { details: { schemaName, indexName } },
  );
}

/**
 * Creates indexes for equality conditions on a field. With them the planner also knows how many rows have a value, and chooses between the
 * index of the vectors and comparing just these rows. One that is there is kept.
 *
 * @param fields - such as `tenant` or `author.name`
 * @throws `OPTIONS_INVALID`
 */
async function createMetadataIndexes(query: SqlQuery, target: MetadataTarget): Promise<void> {
  const table = quoteIdentifier(target.schemaName, target.indexName);
  for (const { field, name } of await missingMetadataIndexes(query, target)) {
    const expression = fieldToSql(field.split('.'), 'metadata', (key) => `'${key}'`);
    await query(`CREATE INDEX ${quoteIdentifier(name)} ON ${table} USING gin ((${expression}) jsonb_path_ops)`);
  }
}

type MetadataTarget = PgTarget & Pick<PgCreateIndexParams, 'metadataIndexes'>;

/** Looks up names, because `IF NOT EXISTS` waits for writers and needs the rights of the owner. */
async function missingMetadataIndexes(
  query: SqlQuery,
  { schemaName, indexName, metadataIndexes: fields = [] }: MetadataTarget,
): Promise<{ field: string; name: string }[]> {
  for (const field of fields) requireIndexableField(field);
  const rows = await query(
    `SELECT field, name FROM (
       SELECT DISTINCT field, $1::text || '_m' || pg_catalog.left(pg_catalog.md5(field), 8) AS name FROM unnest($2::text[]) AS field
     ) AS wanted
     WHERE NOT EXISTS (
       SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $3::text AND c.relname = wanted.name
     )`,
    [indexName, fields, schemaName],
  );
  return rows.map(({ field, name }) => ({ field: String(field), name: String(name) }));
}

/** Checks a field name. It becomes part of the text of statements, so it must not contain characters that could end a string. */
function requireIndexableField(field: unknown): void {
  if (typeof field === 'string' && /^[a-z_][\w-]*(?:\.[a-z_][\w-]*)*$/i.test(field) && field.length <= 200) return;
  throw invalidOptions(
    `metadataIndexes cannot have '${String(field)}': name a field by ASCII letters, digits, '_' and '-', nested ones with dots.`,
  );
}
