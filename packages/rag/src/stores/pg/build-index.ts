import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import type { VectorMetric } from '../../store/vector-store.js';
import type { SqlQuery } from './database.js';
import {
  countRows,
  type ExistingIndex,
  indexableDimension,
  indexTypes,
  type PgIndex,
  type PgIndexElements,
  type PgIndexType,
  type PgTarget,
  quoteIdentifier,
  requireInteger,
  toComment,
} from './pg-index.js';

/**
 * Type and parameters of an index of pgvector. A `createIndex()` that builds nothing, as for `ivfflat` or with `buildIndex: false`, keeps the
 * type alone: pass the parameters to `buildIndex()`.
 */
export interface PgIndexConfig {
  /**
   * Default `hnsw`; `flat` above 4,000 dimensions, where no index is possible; for `buildIndex()` the type that the index has or was
   * created with. `ivfflat` derives its centers from the data, so it is built by `buildIndex()` once they are there. `hnsw`, `ivf` and
   * `quantization` imply their type.
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

/** Rebuilds the vector index in a transaction: rows can be read meanwhile, and written when it ends. */
export async function buildIndex(
  query: SqlQuery,
  index: ExistingIndex,
  { indexName, schemaName, indexConfig = {} }: PgTarget & { indexConfig?: PgIndexConfig },
): Promise<void> {
  const { table, metric, vectorType, extension } = index;
  const { type, elements, parameters } = requestIndex(
    indexConfig,
    index,
    index.type === 'flat' ? index.requestedType : index.type,
  );
  if (type !== index.requestedType)
    await query(`COMMENT ON TABLE ${table} IS ${toComment({ ...index, requestedType: type })}`);
  const name = vectorIndexName(indexName);
  const drop = `DROP INDEX IF EXISTS ${quoteIdentifier(schemaName, name)}`;
  if (type === 'flat') return void (await query(drop));
  const column = elements === vectorType ? 'embedding' : `(${quantizedSql('embedding', elements, index)})`;
  const operators = `${extension.schema}.${elements}_${elements === 'bit' ? 'hamming_ops' : operatorClasses[metric]}`;
  const checked = type === 'hnsw' ? parameters : { lists: await requireLists(query, index, parameters['lists']) };
  const options = Object.entries(checked)
    .map(([option, value]) => `${option} = ${value}`)
    .join(', ');
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

/** Returns the type that a configuration names or implies, if any. @throws `OPTIONS_INVALID` for members of another type */
export function typeOf({ type, hnsw, quantization, ivf }: PgIndexConfig): PgIndexType | undefined {
  const members = [
    ['hnsw', hnsw, 'hnsw'],
    ['quantization', quantization, 'hnsw'],
    ['ivf', ivf, 'ivfflat'],
  ] as const;
  const given = members.filter(([, value]) => value !== undefined);
  const requested = type ?? given[0]?.[2];
  const wrong = given.find(([, , owner]) => owner !== requested);
  if (wrong)
    throw invalidOptions(
      `'indexConfig.${wrong[0]}' is for the type ${wrong[2]}, not ${String(requested)}. Remove one.`,
    );
  return requested;
}

export function vectorIndexName(indexName: string): string {
  return `${indexName}_vector_idx`;
}

const operatorClasses: Readonly<Record<VectorMetric, string>> = {
  cosine: 'cosine_ops',
  euclidean: 'l2_ops',
  dotproduct: 'ip_ops',
};

/** An index that is to be built, or compared with the one that exists. */
export interface RequestedIndex {
  readonly type: PgIndexType;
  readonly elements: PgIndexElements;
  /** Names as in the database. Without `lists`, their number depends on the rows. */
  readonly parameters: Readonly<Record<string, number>>;
}

/**
 * Returns the index that a configuration requests, which keeps what it does not name.
 *
 * @param index - what there is; without `elements` and `config` before the first index
 * @param keptType - type where the configuration implies none
 * @throws `OPTIONS_INVALID`
 */
export function requestIndex(
  indexConfig: PgIndexConfig,
  index: Pick<PgIndex, 'dimension' | 'vectorType' | 'metric' | 'elements'> & Partial<Pick<PgIndex, 'config'>>,
  keptType?: PgIndexType,
): RequestedIndex {
  const elements = requestedElements(indexConfig, index);
  const type = typeOf(indexConfig) ?? keptType ?? (index.dimension > indexableDimension[elements] ? 'flat' : 'hnsw');
  requireIndexable(type, index.dimension, elements);
  return { type, elements, parameters: parametersOf(type, indexConfig, index.config ?? {}) };
}

function parametersOf(
  type: PgIndexType,
  { hnsw = {}, ivf = {} }: PgIndexConfig,
  config: PgIndex['config'],
): Record<string, number> {
  if (type === 'flat') return {};
  if (type === 'ivfflat')
    return ivf.lists === undefined ? {} : { lists: requireInteger('lists', ivf.lists, 1, largestLists) };
  const kept = { ...hnswDefaults, ...config };
  return {
    m: requireInteger('m', hnsw.m ?? kept.m, 2, 100),
    ef_construction: requireInteger('efConstruction', hnsw.efConstruction ?? kept.ef_construction, 4, 1000),
  };
}

/** Whether an index is as requested. */
export function isAsRequested(existing: PgIndex, { type, elements, parameters }: RequestedIndex): boolean {
  if (type !== existing.type) return false;
  const used: PgIndex['config'] = { ...hnswDefaults, ...existing.config };
  const isSame = Object.entries(parameters).every(([name, value]) => value === used[name]);
  return type === 'flat' || (elements === existing.elements && isSame);
}

/** @throws `OPTIONS_INVALID` */
function requestedElements(
  { quantization }: Pick<PgIndexConfig, 'quantization'>,
  { dimension, vectorType, metric, elements }: Pick<PgIndex, 'dimension' | 'vectorType' | 'metric' | 'elements'>,
): PgIndexElements {
  if (quantization === undefined) return elements ?? (dimension > indexableDimension.vector ? 'halfvec' : vectorType);
  if (quantization !== 'half' && quantization !== 'binary')
    throw invalidOptions(`Unknown quantization '${String(quantization)}'; known: half, binary.`);
  if (quantization === 'half') return 'halfvec';
  if (metric === 'cosine') return 'bit';
  throw invalidOptions(`The quantization 'binary' needs the metric cosine, not ${metric}.`);
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

/** Defaults of pgvector. */
const hnswDefaults: Readonly<Record<'m' | 'ef_construction', number>> = { m: 16, ef_construction: 64 };

const rowsPerList = 50;
/** The limit of pgvector. */
export const largestLists = 32_768;

/** @throws `VECTOR_INDEX_TOO_EARLY` */
async function requireLists(query: SqlQuery, index: PgIndex, requested: number | undefined): Promise<number> {
  const count = await countRows(query, index);
  const lists = requested ?? Math.min(largestLists, Math.max(1, Math.floor(count / 1000)));
  if (count < lists * rowsPerList) {
    throw new QuiverError(
      'VECTOR_INDEX_TOO_EARLY',
      `An ivfflat index of ${lists} lists needs at least ${lists * rowsPerList} rows to find its centers, but there are ${count}. Build it after the rows are stored, or use hnsw.`,
      { details: { lists, count } },
    );
  }
  return lists;
}

const largestDimension = 16_000;

/** @throws `OPTIONS_INVALID` */
function requireIndexable(type: PgIndexType, dimension: number, elements: PgIndexElements): void {
  if (!indexTypes.includes(type))
    throw invalidOptions(`Unknown index type '${String(type)}'; known: ${indexTypes.join(', ')}.`);
  if (dimension > largestDimension)
    throw invalidOptions(`pgvector stores vectors of at most ${largestDimension} dimensions, not ${dimension}.`);
  if (type !== 'flat' && dimension > indexableDimension[elements]) {
    throw invalidOptions(
      `pgvector cannot index ${dimension} dimensions, at most ${indexableDimension[elements]}. Use { type: 'flat' }, which compares all vectors, { quantization: 'binary' } with the metric cosine, or an embedding model with fewer dimensions.`,
    );
  }
}
