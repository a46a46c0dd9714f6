import { toErrorMessage } from '@quiver/core';
import type { Utf8, Vector } from 'apache-arrow';
import { createFilterTest, type Filter } from '../../filter/index.js';
import { partsOf } from '../../requests/parts-of.js';
import { type CheckedRecord, type IndexShape, isUnicode, lacksDirection, requireUnicode } from '../../store/checks.js';
import { type ConditionLanguage, equalityConditions, toEqualityPart } from '../../store/conditions.js';
import { nearestMatching, readPage } from '../../store/paging.js';
import { type NearestSearch, type OpenIndex, type TermSearch, unboundedToScore } from '../../store/record-store.js';
import { RemoteIndex, type WantedIndex } from '../remote-store.js';
import { findIfPresent } from '../store-call.js';
import type { FoundRecord } from '../../store/search.js';
import type {
  CreateIndexParams,
  VectorPage,
  ListVectorsParams,
  VectorMetadata,
  VectorRecord,
} from '../../store/vector-store.js';
import { plainQueryTerms, recordTerms } from '../../words/record-terms.js';
import type { LanguageParams } from '../../words/term-analyzer.js';
import type { Lance, LanceQuery, LanceTable } from './lance-client.js';

/** A table that this store created. */
export interface LanceShape extends IndexShape {
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

/** LanceDB derives the name from the column. */
const termsIndex = 'terms_idx';

/** LanceDB leaves out longer terms; by default those of more than 40 characters. */
const longestTerm = 10_000;

/** The types of Arrow are not part of exported declarations. */
type Arrow = typeof import('apache-arrow');

export function createTable(lance: Lance, { name, ...index }: WantedIndex): Promise<LanceTable> {
  return lance.connection.createEmptyTable(name, toSchema(lance, index));
}

function toSchema(lance: Lance, { dimension, metric, analyzer }: Omit<WantedIndex, 'name'>): unknown {
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
export async function findIndex({ connection }: Lance, name: string): Promise<LanceShape | undefined> {
  const isMissing = (error: unknown): boolean => /not found/i.test(toErrorMessage(error));
  const table = await findIfPresent(() => connection.openTable(name), isMissing);
  const shape = (await table?.schema())?.metadata.get(mark);
  return table && shape !== undefined ? { table, ...(JSON.parse(shape) as Omit<LanceShape, 'table'>) } : undefined;
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

/** Keyword searches rank the rows that are not in the full-text index yet one by one. */
const mostUnindexed = 5000;
const idsPerCondition = 5000;
/** Squares of larger numbers may exceed 32 bits. */
const largestNumber = 1e15;

/** Whether a vector may have no cosine similarity: one of zeros, or of numbers that are too large. LanceDB leaves those out of its results. */
function lacksCosine(vector: Float32Array): boolean {
  return lacksDirection(vector) || vector.some((value) => Math.abs(value) > largestNumber);
}

interface LanceRow {
  readonly id: string;
  readonly metadata: string;
  readonly document?: string | null;
  readonly vector?: Iterable<number>;
  readonly _distance?: number | null;
  readonly _score?: number | null;
}

function toRecord({ id, metadata, document, vector }: LanceRow): VectorRecord {
  return {
    id,
    metadata: JSON.parse(metadata) as VectorMetadata,
    ...(typeof document === 'string' && { document }),
    ...(vector && { vector: Array.from(vector) }),
  };
}

function recordColumns(includeVector: boolean): string[] {
  return ['id', 'metadata', 'document', ...(includeVector ? ['vector'] : [])];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Metadata have any shape, and columns of LanceDB have one: equality conditions are lines of a text. A list of texts takes a query twice the time. */
const language: ConditionLanguage<string> = {
  any: (texts) =>
    texts.length === 0
      ? 'false'
      : `(${texts.map((text) => `contains(conditions, ${quote(`\n${text}\n`)})`).join(' OR ')})`,
  and: (parts) => `(${parts.join(' AND ')})`,
  or: (parts) => `(${parts.join(' OR ')})`,
};

const distances = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'dot' } as const;

async function rowsOf(
  query: LanceQuery,
  columns: string[],
  ...conditions: (string | undefined)[]
): Promise<LanceRow[]> {
  const given = conditions.filter((condition) => condition !== undefined);
  if (given.length > 0) query.where(given.join(' AND '));
  return (await query.select(columns).toArray()) as LanceRow[];
}

function bySimilarity(a: FoundRecord, b: FoundRecord): number {
  return b.similarity - a.similarity;
}

/** A table, open for one call. */
export class LanceIndex extends RemoteIndex<Lance, LanceShape> implements OpenIndex {
  readonly toKeywordScore: typeof unboundedToScore = unboundedToScore;

  get #table(): LanceTable {
    return this.index.table;
  }

  /** Adds to a new table, or to one whose creation was interrupted, what LanceDB does not create together with it. */
  async complete(): Promise<void> {
    const table = this.#table;
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
      (await table.schema()).fields.some(({ metadata }) =>
        metadata.has('lance-schema:unenforced-primary-key:position'),
      );
    await ensure(hasKey, () => table.setUnenforcedPrimaryKey('id'));
    // Terms arrive complete, separated by spaces.
    const config = this.client.lancedb.Index.fts({
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

  async count(): Promise<number> {
    return this.#table.countRows();
  }

  async read(ids: readonly string[], includeVector: boolean): Promise<VectorRecord[]> {
    const records: VectorRecord[] = [];
    for (const condition of idConditions(ids))
      records.push(
        ...(await rowsOf(this.#table.query(), recordColumns(includeVector), condition)).map((row) => toRecord(row)),
      );
    return records;
  }

  async select(filter: Filter | undefined): Promise<string[]> {
    const { condition, rest } = toEqualityPart(filter, language);
    const rows = await rowsOf(this.#table.query(), rest ? ['id', 'metadata'] : ['id'], condition);
    const matches = createFilterTest(rest);
    return rows.filter(({ metadata }) => !rest || matches(JSON.parse(metadata))).map(({ id }) => id);
  }

  async listVectors(params: ListVectorsParams, filter: Filter | undefined): Promise<VectorPage> {
    const { condition, rest } = toEqualityPart(filter, language);
    return readPage(params, rest, async (after, limit) => {
      const query = this.#table.query().orderBy({ columnName: 'id', ascending: true }).limit(limit);
      const behind = after === undefined ? undefined : `id > ${quote(after)}`;
      return (await rowsOf(query, recordColumns(params.includeVector ?? false), condition, behind)).map(toRecord);
    });
  }

  async nearest({ vector, limit: wanted, includeVector, filter }: NearestSearch): Promise<FoundRecord[]> {
    const { condition, rest } = toEqualityPart(filter, language);
    const { metric } = this;
    const columns = recordColumns(includeVector);
    const findAlike = async (limit: number): Promise<FoundRecord[]> => {
      const query = this.#table.query().nearestTo(vector).distanceType(distances[metric]).bypassVectorIndex();
      const rows = await rowsOf(query.limit(limit), [...columns, '_distance'], condition);
      return rows.map((row) => {
        // Numbers that are too large have no distance.
        const distance = row._distance ?? Infinity;
        return { similarity: metric === 'euclidean' ? -distance : 1 - distance, record: toRecord(row) };
      });
    };
    const find = async (limit: number): Promise<FoundRecord[]> => {
      const found = await findAlike(limit);
      if (metric !== 'cosine' || (found.length === limit && found.every(({ similarity }) => similarity > 0)))
        return found;
      // Records that may have no cosine similarity, which counts as 0.
      const known = new Set(found.map(({ record }) => record.id));
      const query = this.#table.query().limit(limit + found.length);
      const others = await rowsOf(query, columns, condition, lacksCosine(vector) ? undefined : 'lacks_cosine');
      const added = others.filter(({ id }) => !known.has(id)).map((row) => ({ similarity: 0, record: toRecord(row) }));
      return [...found, ...added].toSorted(bySimilarity).slice(0, limit);
    };
    return nearestMatching({ wanted, filter: rest, find });
  }

  /** Records that share a term with the query, ordered by the BM25 of LanceDB. */
  async byTerms({ queryText, limit: wanted, includeVector, filter }: TermSearch): Promise<FoundRecord[]> {
    const terms = await plainQueryTerms(this.index.analyzer, queryText);
    if (terms.length === 0) return [];
    const { condition, rest } = toEqualityPart(filter, language);
    // The tokenizer of the index splits it at the spaces; it is not a query language.
    const text = new this.client.lancedb.MatchQuery(terms.join(' '), 'terms');
    // LanceDB returns rows that are not in its index yet in any order, and stops at the limit.
    const unordered = await this.#countUnindexed();
    const find = async (limit: number): Promise<FoundRecord[]> => {
      const query = this.#table
        .query()
        .fullTextSearch(text)
        .limit(limit + unordered);
      const rows = await rowsOf(query, [...recordColumns(includeVector), '_score'], condition);
      const found = rows.map((row) => ({ similarity: row._score ?? 0, record: toRecord(row) }));
      return found.toSorted(bySimilarity).slice(0, limit);
    };
    return nearestMatching({ wanted, filter: rest, find });
  }

  async #countUnindexed(): Promise<number> {
    return (await this.#table.indexStats(termsIndex))?.numUnindexedRows ?? 0;
  }

  /**
   * Stores all records in one version of the table.
   *
   * @throws `OPTIONS_INVALID` for text that Arrow cannot store
   */
  async write(records: readonly CheckedRecord[]): Promise<void> {
    for (const record of records) requireUnicode(record, 'LanceDB');
    const { table, dimension, analyzer } = this.index;
    const terms = await recordTerms(analyzer, records);
    const arrow = this.client.arrow as Arrow;
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
      conditions: texts(records.map(({ metadata }) => ['', ...equalityConditions(metadata), ''].join('\n'))),
      terms: texts(terms.map((each) => each.join(' '))),
      document: texts(records.map(({ document = null }) => document)),
      lacks_cosine: arrow.vectorFromArray(
        records.map(({ vector }) => lacksCosine(vector)),
        new arrow.Bool(),
      ),
      vector: arrow.makeVector(vectors),
    });
    await table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(data);
    if ((await this.#countUnindexed()) > mostUnindexed) await table.optimize();
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const condition of idConditions(ids)) await this.#table.delete(condition);
  }

  clear(): Promise<unknown> {
    return this.#table.delete('true');
  }

  drop(): Promise<unknown> {
    return this.client.connection.dropTable(this.name);
  }
}

function idConditions(ids: readonly string[]): string[] {
  return partsOf(ids.filter(isUnicode), idsPerCondition).map((part) => `id IN (${part.map(quote).join(', ')})`);
}
