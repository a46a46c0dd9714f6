import { QuiverError } from '@quiver/core';
import {
  contextKey,
  type IndexShape,
  invalidArgument,
  requireSameShape,
  textKeys,
} from '../../store/check-arguments.js';
import { requireSameLanguage, toAnalyzerId } from '../../retrieval/terms/term-analyzer.js';
import type { CreateIndexParams, VectorMetric } from '../../store/vector-store.js';
import type { SqlQuery } from './database.js';
import { fieldToSql, quoteIdentifier, requireInteger, requireTextSearchName } from './filter-to-sql.js';
import {
  derivedTableName,
  indexableDimension,
  lockCreation,
  type ExistingIndex,
  type PgIndex,
  type PgIndexElements,
  type PgIndexType,
  type PgLanguage,
  type PgVectorExtension,
  type PgVectorType,
  readExtension,
  readIndex,
  toComment,
  wordsColumn,
} from './pg-index.js';

/** Parameters of `createIndex()` of `PgVector`. */
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
  /**
   * Language of the texts, for keyword and hybrid search with terms that Quiver computes, as in `LocalVector`: a code such as `zh`, a
   * language tag, an English name, or `auto`. Unlike `textSearch`, it needs no dictionary of the database. Default: `textSearch`.
   */
  language?: string;
  /** Metadata fields that filters compare by equality, such as a tenant. Missing ones are added to an existing index. */
  metadataIndexes?: readonly string[];
}

export const defaultLanguage = 'english';

/** Runs inside a transaction; any number of processes may do so at once. */
export async function createIndex(query: SqlQuery, params: PgCreateIndexParams & IndexShape & PgTarget): Promise<void> {
  const { schemaName, indexName, dimension, metric, indexConfig = {}, textSearch = {} } = params;
  const { vectorType = 'vector' } = params;
  if (vectorType !== 'vector' && vectorType !== 'halfvec')
    throw invalidArgument(`Unknown vectorType '${String(vectorType)}'; known: vector, halfvec.`);
  const elements = requestedElements(indexConfig, { dimension, vectorType, metric });
  if (params.language !== undefined && params.textSearch !== undefined)
    throw invalidArgument('createIndex accepts language or textSearch, not both.');
  const analyzer = params.language === undefined ? undefined : toAnalyzerId(params.language);
  const type = typeOf(indexConfig) ?? (dimension > indexableDimension[elements] ? 'flat' : 'hnsw');
  requireIndexable(type, dimension, elements);
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
    const language = !analyzer && textSearch && (await readLanguage(query, textSearch.language ?? defaultLanguage));
    // Columns that filters read come before the vector, in the part of the row that is already in the processor's cache.
    const columns = [
      'id text COLLATE "C" PRIMARY KEY',
      'metadata jsonb NOT NULL',
      'document text',
      `embedding ${extension.schema}.${vectorType}(${dimension}) NOT NULL`,
      ...(language ? [textSearchColumn(language)] : []),
      ...(analyzer === undefined ? [] : [`${wordsColumn} tsvector NOT NULL`]),
    ];
    await query(`CREATE TABLE ${table} (${columns.join(', ')})`);
    const comment = toComment({
      metric,
      ...(language && { language }),
      ...(analyzer !== undefined && { analyzer }),
      requestedType: type,
    });
    await query(`COMMENT ON TABLE ${table} IS ${comment}`);
    if (language || analyzer !== undefined) await query(textSearchIndex(params));
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
  requireSameLanguage(indexName, existing.analyzer ?? existing.language?.name, params.language);
  const requested = indexConfig && findDifference(existing, indexConfig, buildIndex);
  if (requested !== undefined && buildIndex !== true) {
    const advice = 'Pass buildIndex: true to rebuild it, or leave indexConfig out to keep it.';
    throw mismatch(`${existing.type} ${JSON.stringify(existing.config)}`, requested, advice);
  }
  // The next `buildIndex()` without a type builds the type that was requested last.
  const isNewType = existing.type === 'flat' && indexConfig?.type !== existing.requestedType;
  return { ...existing, mustRebuild: requested !== undefined, typeToRecord: isNewType ? indexConfig?.type : undefined };
}

/** Returns the requested configuration if it differs. Compares only the fields that the caller sets. */
function findDifference(
  existing: PgIndex,
  { type = existing.type, hnsw = {}, ivf = {}, quantization }: PgIndexConfig,
  isBuilt: boolean | undefined,
): string | undefined {
  // Its build is still to come.
  if (existing.type === 'flat' && (isBuilt === false || type === 'ivfflat')) return undefined;
  const parameters = {
    hnsw: { m: hnsw.m, ef_construction: hnsw.efConstruction },
    ivfflat: { lists: ivf.lists },
    flat: {},
  };
  const used: Readonly<Record<string, number>> = { m: 16, ef_construction: 64, ...existing.config };
  const hasSameElements =
    quantization === undefined || requestedElements({ quantization }, existing) === existing.elements;
  const isSame =
    type === existing.type &&
    (type === 'flat' || hasSameElements) &&
    Object.entries(parameters[type]).every(([name, value]) => value === undefined || value === used[name]);
  return isSame ? undefined : `${type} ${JSON.stringify({ ...parameters[type], quantization })}`;
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
  const names = [indexName, vectorIndexName(indexName), textSearchIndexName(indexName)];
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

/** Type and parameters of an index of pgvector. */
export interface PgIndexConfig {
  /**
   * Default `hnsw`; `flat` above 4,000 dimensions, where no index is possible; for `buildIndex()` the type that the index has or was
   * created with. `ivfflat` derives its centers from the data, so it is built by `buildIndex()` once they are there.
   */
  type?: PgIndexType;
  /** Defaults 16 and 64, as in pgvector; for a rebuild those of the index. */
  hnsw?: { m?: number; efConstruction?: number };
  /** Default: one per 1,000 rows. */
  ivf?: { lists?: number };
  /**
   * Smaller numbers in the index of type `hnsw`; the stored vectors are unchanged, and the best candidates are compared by them again. `half`:
   * 16-bit numbers, half the size; the default from 2,001 dimensions. `binary`: one bit per number, 1/32 of the size, for the metric `cosine` and up to
   * 64,000 dimensions; it loses much below about 1,000 dimensions. For a rebuild the default is that of the index.
   */
  quantization?: 'half' | 'binary';
}

export interface PgTarget {
  readonly schemaName: string;
  readonly indexName: string;
}

/** Rebuilds the vector index in a transaction: rows can be read meanwhile, and written when it ends. */
export async function buildIndex(
  query: SqlQuery,
  index: ExistingIndex,
  { indexName, schemaName, indexConfig = {} }: PgTarget & { indexConfig?: PgIndexConfig },
): Promise<void> {
  const { table, dimension, metric, vectorType, extension } = index;
  const type = typeOf(indexConfig) ?? (index.type === 'flat' ? index.requestedType : index.type);
  if (!type)
    throw invalidArgument(
      `The index '${indexName}' has no vector index, and does not record which type to build. Pass indexConfig, such as { type: 'hnsw' }.`,
    );
  const elements = requestedElements(indexConfig, index);
  requireIndexable(type, dimension, elements);
  if (type !== index.requestedType)
    await query(`COMMENT ON TABLE ${table} IS ${toComment({ ...index, requestedType: type })}`);
  const name = vectorIndexName(indexName);
  const drop = `DROP INDEX IF EXISTS ${quoteIdentifier(schemaName, name)}`;
  if (type === 'flat') return void (await query(drop));
  const column = elements === vectorType ? 'embedding' : `(${quantizedSql('embedding', elements, index)})`;
  const operators = `${extension.schema}.${elements}_${elements === 'bit' ? 'hamming_ops' : operatorClasses[metric]}`;
  const options = type === 'hnsw' ? hnswOptions(indexConfig, index) : await ivfflatOptions(query, index, indexConfig);
  // Writers wait here and hold no lock yet, so that the change of the index at the end, for which readers wait a moment too,
  // cannot end in a deadlock.
  await query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  const next = `${indexName}_vector_new`;
  await query(
    `CREATE INDEX ${quoteIdentifier(next)} ON ${table} USING ${type} (${column} ${operators}) WITH (${options})`,
  );
  await query(drop);
  await query(`ALTER INDEX ${quoteIdentifier(schemaName, next)} RENAME TO ${quoteIdentifier(name)}`);
}

function typeOf({ type, hnsw, ivf }: PgIndexConfig): PgIndexType | undefined {
  return type ?? (hnsw ? 'hnsw' : ivf && 'ivfflat');
}

function vectorIndexName(indexName: string): string {
  return `${indexName}_vector_idx`;
}

const operatorClasses: Readonly<Record<VectorMetric, string>> = {
  cosine: 'cosine_ops',
  euclidean: 'l2_ops',
  dotproduct: 'ip_ops',
};

/** @throws `VECTOR_ARGUMENT_INVALID` */
function requestedElements(
  { quantization, ...config }: PgIndexConfig,
  { dimension, vectorType, metric, elements }: Pick<PgIndex, 'dimension' | 'vectorType' | 'metric' | 'elements'>,
): PgIndexElements {
  if (quantization === undefined) return elements ?? (dimension > indexableDimension.vector ? 'halfvec' : vectorType);
  if (quantization !== 'half' && quantization !== 'binary')
    throw invalidArgument(`Unknown quantization '${String(quantization)}'; known: half, binary.`);
  if ((typeOf(config) ?? 'hnsw') !== 'hnsw') throw invalidArgument('quantization is for an index of type hnsw.');
  if (quantization === 'half') return 'halfvec';
  if (metric === 'cosine') return 'bit';
  throw invalidArgument(`The quantization 'binary' needs the metric cosine, not ${metric}.`);
}

/** The value that an index holds for a vector. */
export function quantizedSql(
  vector: string,
  elements: PgIndexElements,
  { dimension, extension }: Pick<ExistingIndex, 'dimension' | 'extension'>,
): string {
  return elements === 'bit'
    ? `${extension.schema}.binary_quantize(${vector})::bit(${dimension})`
    : `${vector}::${extension.schema}.${elements}(${dimension})`;
}

/** Parameters that are not given keep their values. */
function hnswOptions({ hnsw = {} }: PgIndexConfig, { config }: PgIndex): string {
  const m = requireInteger('m', hnsw.m ?? config['m'] ?? 16, 2, 100);
  const construction = hnsw.efConstruction ?? config['ef_construction'] ?? 64;
  return `m = ${m}, ef_construction = ${requireInteger('efConstruction', construction, 4, 1000)}`;
}

export async function countRows(query: SqlQuery, { table }: PgIndex): Promise<number> {
  const [row] = await query(`SELECT count(*)::int AS count FROM ${table}`);
  return row?.['count'] as number;
}

const rowsPerList = 50;

async function ivfflatOptions(query: SqlQuery, index: PgIndex, { ivf }: PgIndexConfig): Promise<string> {
  const count = await countRows(query, index);
  const lists = requireInteger('lists', ivf?.lists ?? Math.max(1, Math.floor(count / 1000)), 1, 32_768);
  if (count < lists * rowsPerList) {
    throw new QuiverError(
      'VECTOR_INDEX_TOO_EARLY',
      `An ivfflat index of ${lists} lists needs at least ${lists * rowsPerList} rows to find its centers, but there are ${count}. Build it after the rows are stored, or use hnsw.`,
      { details: { lists, count } },
    );
  }
  return `lists = ${lists}`;
}

const largestDimension = 16_000;

/** @throws `VECTOR_ARGUMENT_INVALID` */
function requireIndexable(type: PgIndexType, dimension: number, elements: PgIndexElements): void {
  if (!['hnsw', 'ivfflat', 'flat'].includes(type))
    throw invalidArgument(`Unknown index type '${String(type)}'; known: hnsw, ivfflat, flat.`);
  if (dimension > largestDimension)
    throw invalidArgument(`pgvector stores vectors of at most ${largestDimension} dimensions, not ${dimension}.`);
  if (type !== 'flat' && dimension > indexableDimension[elements]) {
    throw invalidArgument(
      `pgvector cannot index ${dimension} dimensions, at most ${indexableDimension[elements]}. Use { type: 'flat' }, which compares all vectors, { quantization: 'binary' } with the metric cosine, or an embedding model with fewer dimensions.`,
    );
  }
}

/**
 * Creates indexes for equality conditions on a field. With them the planner also knows how many rows have a value, and chooses between the
 * index of the vectors and comparing just these rows. One that is there is kept.
 *
 * @param fields - such as `tenant` or `author.name`
 * @throws `VECTOR_ARGUMENT_INVALID`
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
  if (!Array.isArray(fields)) throw invalidArgument(`metadataIndexes must be a list of fields, not ${String(fields)}.`);
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
  throw invalidArgument(
    `metadataIndexes cannot have '${String(field)}': name a field by ASCII letters, digits, '_' and '-', nested ones with dots.`,
  );
}

/** The column as part of a statement. The text is the document or, without one, the usual keys of the metadata. */
function textSearchColumn(language: PgLanguage): string {
  const text = [
    `NULLIF(document, '')`,
    ...textKeys.map((key) => `CASE jsonb_typeof(metadata -> '${key}') WHEN 'string' THEN metadata ->> '${key}' END`),
    `''`,
  ];
  const context = `COALESCE((metadata ->> '${contextKey}') || ' ', '')`;
  return `${wordsColumn} tsvector GENERATED ALWAYS AS (pg_catalog.to_tsvector(${languageConstant(language)}, ${context} || COALESCE(${text.join(', ')}))) STORED`;
}

function textSearchIndexName(indexName: string): string {
  return `${indexName}_words_idx`;
}

function textSearchIndex({ schemaName, indexName }: PgTarget): string {
  return `CREATE INDEX ${quoteIdentifier(textSearchIndexName(indexName))} ON ${quoteIdentifier(schemaName, indexName)} USING gin (${wordsColumn})`;
}

/** Adds the keyword index to an index that was created without it, or for another language. */
export async function addTextSearch(query: SqlQuery, target: PgTarget, name: string): Promise<void> {
  const index = await readIndex(query, target.schemaName, target.indexName);
  const language = await readLanguage(query, name);
  if (!index || (index.language?.schema === language.schema && index.language.name === language.name)) return;
  const { table } = index;
  await query(`ALTER TABLE ${table} DROP COLUMN IF EXISTS ${wordsColumn}`);
  await query(`ALTER TABLE ${table} ADD COLUMN ${textSearchColumn(language)}`);
  await query(textSearchIndex(target));
  const { analyzer: _replaced, ...others } = index;
  await query(`COMMENT ON TABLE ${table} IS ${toComment({ ...others, language })}`);
}

/** The language as a constant of a statement. */
export function languageConstant({ schema, name }: PgLanguage): string {
  return `'${quoteIdentifier(schema)}.${quoteIdentifier(name)}'::pg_catalog.regconfig`;
}

/** @throws `VECTOR_ARGUMENT_INVALID` for a language that the database does not have */
async function readLanguage(query: SqlQuery, name: string): Promise<PgLanguage> {
  requireTextSearchName(name);
  const rows = await query(
    `SELECT n.nspname AS schema, c.cfgname AS name FROM pg_catalog.pg_ts_config c JOIN pg_catalog.pg_namespace n ON n.oid = c.cfgnamespace ORDER BY n.nspname <> 'pg_catalog', c.cfgname`,
  );
  const found = rows.find((row) => row['name'] === name);
  if (found && /^\w+$/.test(String(found['schema']))) return { schema: String(found['schema']), name };
  throw invalidArgument(
    `The database has no text search configuration '${name}'; it has: ${rows.map((row) => String(row['name'])).join(', ')}.`,
  );
}
