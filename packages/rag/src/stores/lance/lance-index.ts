import { toErrorMessage } from '@quiver/core';
import type { Utf8, Vector } from 'apache-arrow';
import { createFilterTest, type Filter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { recordTerms } from '../../words/record-terms.js';
import { type LanguageParams, requireSameLanguage, toAnalyzerId } from '../../words/term-analyzer.js';
import {
  type IndexShape,
  requireSameShape,
  type CheckedRecord,
  isUnicode,
  lacksDirection,
  requireUnicode,
} from '../../store/checks.js';
import { readPage } from '../../store/paging.js';
import { createUnlessExists } from '../../store/store-call.js';
import type {
  CreateIndexParams,
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorRecord,
} from '../../store/vector-store.js';
import { conditionLines, filterToLance, quote } from './filter-to-lance.js';
import type { Lance, LanceTable } from './lance-client.js';

/** A table that this store created. */
export interface LanceIndex extends IndexShape {
  readonly table: LanceTable;
  /** Different for every index that was created, also under the same name. */
  readonly key: string;
  /** Id of the `TermAnalyzer` of the terms. */
  readonly analyzer: string;
}

/** Entry of the schema's metadata that distinguishes Quiver's tables from others. */
const mark = 'quiver';

/** Parameters of `createIndex()` of `LanceVectorStore`. */
export interface LanceCreateIndexParams extends CreateIndexParams, LanguageParams {}

/** @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH`, `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language */
export async function createIndex(
  lance: Lance,
  { indexName: name, dimension, metric, language }: LanceCreateIndexParams & IndexShape,
): Promise<void> {
  const shape = { dimension, metric, analyzer: toAnalyzerId(language) };
  let created: LanceTable | undefined;
  const create = async (): Promise<void> => {
    created = await lance.connection.createEmptyTable(name, toSchema(lance, shape));
  };
  const find = (): Promise<LanceIndex | undefined> => findIndex(lance, name);
  const existing = (await find()) ?? (await createUnlessExists(create, find));
  if (existing) {
    requireSameShape(name, existing, shape);
    requireSameLanguage(name, existing.analyzer, language);
  }
  // The compiler does not see that `create` has assigned it.
  await completeTable(lance, existing?.table ?? (created as unknown as LanceTable));
}

/** Adds to a new table, or to one whose creation was interrupted, what LanceDB does not create together with it. */
async function completeTable({ lancedb }: Lance, table: LanceTable): Promise<void> {
  const ensure = async (isDone: () => Promise<boolean>, work: () => Promise<unknown>): Promise<void> => {
    if (await isDone()) return;
    try {
      await work();
    } catch (error) {
      // Another process may do the same.
      if (!(await isDone())) throw error;
    }
  };
  // Concurrent merges detect by it that both insert the same id.
  const hasKey = async (): Promise<boolean> =>
    (await table.schema()).fields.some(({ metadata }) => metadata.has('lance-schema:unenforced-primary-key:position'));
  await ensure(hasKey, () => table.setUnenforcedPrimaryKey('id'));
  // Terms arrive complete, separated by spaces.
  const config = lancedb.Index.fts({
    baseTokenizer: 'whitespace',
    withPosition: false,
    maxTokenLength: longestTerm,
    lowercase: false,
    stem: false,
    removeStopWords: false,
    asciiFolding: false,
  });
  const hasTerms = async (): Promise<boolean> => (await table.indexStats(termsIndex)) !== undefined;
  await ensure(hasTerms, () => table.createIndex('terms', { config }));
}

/** LanceDB derives the name from the column. */
const termsIndex = 'terms_idx';

/** LanceDB leaves out longer terms; by default those of more than 40 characters. */
const longestTerm = 10_000;

/** The types of Arrow are not part of exported declarations. */
type Arrow = typeof import('apache-arrow');

function toSchema(
  lance: Lance,
  { dimension, metric, analyzer }: Pick<LanceIndex, 'dimension' | 'metric' | 'analyzer'>,
): unknown {
  const arrow = lance.arrow as Arrow;
  const { Field, Schema, Utf8 } = arrow;
  const shape = JSON.stringify({ dimension, metric, analyzer, key: crypto.randomUUID() });
  return new Schema(
    [
      new Field('id', new Utf8(), false),
      new Field('metadata', new Utf8(), false),
      new Field('conditions', new Utf8(), false),
      new Field('terms', new Utf8(), false),
      new Field('document', new Utf8(), true),
      new Field('lacks_cosine', new arrow.Bool(), false),
      new Field('vector', new arrow.FixedSizeList(dimension, new Field('item', new arrow.Float32(), true)), false),
    ],
    new Map([[mark, shape]]),
  );
}

/** @returns `undefined` if the table does not exist or was not created by Quiver */
export async function findIndex({ connection }: Lance, name: string): Promise<LanceIndex | undefined> {
  let table: LanceTable;
  try {
    table = await connection.openTable(name);
  } catch (error) {
    if (/not found/i.test(toErrorMessage(error))) return undefined;
    throw error;
  }
  const shape = (await table.schema()).metadata.get(mark);
  if (shape === undefined) return undefined;
  return { table, ...(JSON.parse(shape) as Omit<LanceIndex, 'table'>) };
}

const namesPerPage = 1000;

export async function listIndexNames(lance: Lance): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const startAfter = names.at(-1);
    const page = await lance.connection.tableNames({
      limit: namesPerPage,
      ...(startAfter !== undefined && { startAfter }),
    });
    names.push(...page);
    if (page.length < namesPerPage) break;
  }
  const indexes = await Promise.all(names.map((name) => findIndex(lance, name)));
  return names.filter((_name, at) => indexes[at]).toSorted();
}

/**
 * Stores all records in one version of the table.
 *
 * @throws `OPTIONS_INVALID` for text that Arrow cannot store
 */
export async function writeRecords(
  { table, dimension, analyzer }: LanceIndex,
  lance: Lance,
  records: readonly CheckedRecord[],
): Promise<void> {
  for (const record of records) requireUnicode(record, 'LanceDB');
  const terms = await recordTerms(analyzer, records);
  const arrow = lance.arrow as Arrow;
  const numbers = new Float32Array(dimension * records.length);
  for (const [at, { vector }] of records.entries()) numbers.set(vector, at * dimension);
  const utf8 = new arrow.Utf8();
  const texts = (values: (string | null)[]): Vector<Utf8> => arrow.vectorFromArray(values, utf8);
  const vectors = arrow.makeData({
    type: new arrow.FixedSizeList(dimension, new arrow.Field('item', new arrow.Float32(), true)),
    length: records.length,
    nullCount: 0,
    child: arrow.makeData({ type: new arrow.Float32(), data: numbers }),
  });
  const data = new arrow.Table({
    id: texts(records.map(({ id }) => id)),
    metadata: texts(records.map(({ metadata }) => JSON.stringify(metadata))),
    conditions: texts(records.map(({ metadata }) => conditionLines(metadata))),
    terms: texts(terms.map((each) => each.join(' '))),
    document: texts(records.map(({ document = null }) => document)),
    lacks_cosine: arrow.vectorFromArray(
      records.map(({ vector }) => lacksCosine(vector)),
      new arrow.Bool(),
    ),
    vector: arrow.makeVector(vectors),
  });
  await table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(data);
  if ((await countUnindexed(table)) > mostUnindexed) await table.optimize();
}

/** Keyword searches rank the rows that are not in the full-text index yet one by one. */
const mostUnindexed = 5000;

/** Returns the number of rows that are not in the full-text index yet. */
export async function countUnindexed(table: LanceTable): Promise<number> {
  return (await table.indexStats(termsIndex))?.numUnindexedRows ?? 0;
}

/** Squares of larger numbers may exceed 32 bits. */
const largestNumber = 1e15;

/**
 * Whether a vector may have no cosine similarity: one of zeros, or of numbers that are too large. LanceDB leaves those out of its results.
 */
export function lacksCosine(vector: Float32Array): boolean {
  return lacksDirection(vector) || vector.some((value) => Math.abs(value) > largestNumber);
}

const idsPerCondition = 5000;

/** Conditions on ids, for lists of any length. */
function idConditions(ids: readonly string[]): string[] {
  return partsOf(ids.filter(isUnicode), idsPerCondition).map((part) => `id IN (${part.map(quote).join(', ')})`);
}

export async function removeRecords({ table }: LanceIndex, ids: readonly string[]): Promise<void> {
  for (const condition of idConditions(ids)) await table.delete(condition);
}

export function recordColumns(includeVector: boolean): string[] {
  return ['id', 'metadata', 'document', ...(includeVector ? ['vector'] : [])];
}

export interface LanceRow {
  readonly id: string;
  readonly metadata: string;
  readonly document?: string | null;
  readonly vector?: Iterable<number>;
  readonly _distance?: number | null;
  readonly _score?: number | null;
}

export function toRecord({ id, metadata, document, vector }: LanceRow): VectorRecord {
  return {
    id,
    metadata: JSON.parse(metadata) as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(vector && { vector: Array.from(vector) }),
  };
}

/** Returns the existing records, in any order. */
export async function readRecords(
  { table }: LanceIndex,
  ids: readonly string[],
  includeVector: boolean,
): Promise<VectorRecord[]> {
  const records: VectorRecord[] = [];
  for (const condition of idConditions(ids)) {
    const rows = await table.query().where(condition).select(recordColumns(includeVector)).toArray();
    records.push(...(rows as LanceRow[]).map(toRecord));
  }
  return records;
}

/** Returns the ids of all records that match a filter, in any order. */
export async function selectIds({ table }: LanceIndex, filter: Filter | undefined): Promise<string[]> {
  const { condition: where, rest } = filterToLance(filter);
  const query = table.query().select(rest ? ['id', 'metadata'] : ['id']);
  if (where !== undefined) query.where(where);
  const rows = (await query.toArray()) as LanceRow[];
  const matches = createFilterTest(rest);
  return rows.filter(({ metadata }) => !rest || matches(JSON.parse(metadata))).map(({ id }) => id);
}

/** Returns a page of records, ordered by id. */
export async function scanRecords(
  { table }: LanceIndex,
  params: ListVectorsParams,
  filter: Filter | undefined,
): Promise<VectorPage> {
  const { condition: where, rest } = filterToLance(filter);
  return readPage(params, rest, async (after, limit) => {
    const conditions = [where, after === undefined ? undefined : `id > ${quote(after)}`];
    const query = table
      .query()
      .select(recordColumns(params.includeVector ?? false))
      .orderBy({ columnName: 'id', ascending: true });
    const known = conditions.filter((condition) => condition !== undefined);
    if (known.length > 0) query.where(known.join(' AND '));
    return ((await query.limit(limit).toArray()) as LanceRow[]).map(toRecord);
  });
}
