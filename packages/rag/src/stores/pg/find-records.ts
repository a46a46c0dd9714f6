import { QuiverError } from '@quiver/core';
import type { Filter } from '../../filter/index.js';
import { fusionDepth } from '../../retrieval/reciprocal-rank-fusion.js';
import { toVector } from '../../store/check-arguments.js';
import { fuseSearches, type HybridSearch, type KeywordSearch, toScore, type VectorSearch } from '../../store/search.js';
import type { VectorMatch } from '../../store/vector-store.js';
import { languageConstant } from './create-index.js';
import type { SqlDatabase, SqlQuery, SqlRow } from './database.js';
import type { FilterSelectivity } from './filter-selectivity.js';
import { keepMatching, type SqlCondition, SqlParameters, toCondition } from './filter-to-sql.js';
import type { OpenIndex } from './pg-index.js';
import { toRecord } from './records.js';
import {
  approximateSql,
  candidatesPerResult,
  exactSql,
  hybridSql,
  keywordSql,
  type PgQueryParams,
  questionSql,
  searchSettings,
  toSimilarity,
} from './search-sql.js';

/** Context of a query. */
export interface QueryPlace {
  readonly indexName: string;
  readonly index: OpenIndex;
  readonly database: SqlDatabase;
  readonly params: PgQueryParams;
  readonly filter: Filter | undefined;
  readonly selectivity: FilterSelectivity;
}

/** The best records for a search, best first. */
export function findRecords(
  place: QueryPlace,
  search: VectorSearch | KeywordSearch | HybridSearch,
): Promise<VectorMatch[]> {
  switch (search.mode) {
    case 'vector':
      return findNearest(place, search);
    case 'keyword':
      return findByWords(place, search);
    case 'hybrid':
      return findByBoth(place, search);
  }
}

async function findNearest(
  place: QueryPlace,
  { queryVector, limit, includeVector }: VectorSearch,
): Promise<VectorMatch[]> {
  const { index, params, filter } = place;
  const { parameters, vector, where, condition, canUseIndex } = await startVectorQuery(place, queryVector, limit);
  const columns = [...toColumns(includeVector), tableOid(index)];
  const run = (sql: string): Promise<SqlRow[]> => runQuery(place, sql, parameters);
  const settings = searchSettings(index, params, { hasFilter: filter !== undefined, wanted: limit });
  let rows: SqlRow[] = [];
  if (canUseIndex) {
    const candidates = (condition.exact ? limit : limit * candidatesPerResult) + 1;
    const sql = approximateSql({ index, vector, columns, where, limit: candidates, settings });
    const seen = await run(sql);
    const found = keepMatching(seen, filter, condition).slice(0, limit);
    // One row that is farther tells that the last place is not shared with rows unseen, which only all rows could settle.
    if (distanceOf(seen.at(-1)) > distanceOf(found.at(-1))) rows = found;
  }
  if (rows.length < limit) {
    rows = await collect(limit, filter, condition, (size, offset) =>
      run(exactSql({ index, vector, columns, where, limit: size, offset })),
    );
  }
  return rows.map((row) => ({
    ...toRecord(row),
    score: toScore(index.metric, toSimilarity(index.metric, distanceOf(row))),
  }));
}

function distanceOf(row: SqlRow | undefined): number {
  return (row?.['distance'] ?? Number.NaN) as number;
}

async function findByWords(
  place: QueryPlace,
  { queryText, limit, includeVector }: KeywordSearch,
): Promise<VectorMatch[]> {
  const { filter } = place;
  const parameters = new SqlParameters();
  const question = startKeywordQuery(place, queryText, parameters);
  const condition = toCondition(filter, parameters);
  const columns = toColumns(includeVector);
  const rows = await collect(limit, filter, condition, (size, offset) => {
    const sql = keywordSql({ table: question.table, columns, where: condition.sql, limit: size, offset });
    return runQuery(place, `WITH ${questionSql(question)} ${sql}`, parameters);
  });
  return rows.map(toScored);
}

async function findByBoth(place: QueryPlace, search: HybridSearch): Promise<VectorMatch[]> {
  const { queryVector, queryText, limit, includeVector, fusion } = search;
  const { index, params, filter } = place;
  const depth = fusionDepth(limit);
  const { parameters, vector, where, condition, canUseIndex } = await startVectorQuery(place, queryVector, depth);
  const keyword = startKeywordQuery(place, queryText, parameters);
  // Rows of an inexact condition must be evaluated here, and a single ranking needs no fusion.
  if (!condition.exact || fusion.vector === 0 || fusion.keyword === 0)
    return fuseSearches(search, (part) => findRecords(place, part));
  const sql = hybridSql({
    nearest: { index, vector, where },
    keyword,
    settings: canUseIndex
      ? searchSettings(index, params, { hasFilter: filter !== undefined, wanted: depth })
      : undefined,
    columns: [...toColumns(includeVector), tableOid(index)],
    depth,
    limit,
    weights: {
      vector: parameters.addValue(fusion.vector),
      keyword: parameters.addValue(fusion.keyword),
    },
  });
  return (await runQuery(place, sql, parameters)).map(toScored);
}

interface VectorQuery {
  readonly parameters: SqlParameters;
  /** Place of the query vector. */
  readonly vector: string;
  readonly condition: SqlCondition;
  readonly where: string;
  readonly canUseIndex: boolean;
}

async function startVectorQuery(
  { index, database, params, filter, selectivity }: QueryPlace,
  queryVector: ArrayLike<number>,
  wanted: number,
): Promise<VectorQuery> {
  const values = toVector(queryVector, index.dimension, 'The query vector');
  const parameters = new SqlParameters();
  const vector = parameters.addValue(database.toVectorValue(values));
  const condition = toCondition(filter, parameters);
  // Between vectors of zeros and others there is no angle, so an index does not hold them.
  const hasDirection = index.metric !== 'cosine' || values.some((value) => value !== 0);
  const hasUsableIndex =
    index.type !== 'flat' && params.exact !== true && hasDirection && (filter === undefined || index.extension.scansOn);
  const query: SqlQuery = (sql, sqlValues) => database.query(sql, sqlValues, params.signal);
  const fewPass =
    hasUsableIndex && index.type === 'hnsw' && filter && selectivity.passesFew({ query, index, filter, wanted });
  const canUseIndex = hasUsableIndex && !(await fewPass);
  return { parameters, vector, condition, where: condition.sql, canUseIndex };
}

/** @throws `VECTOR_TEXT_SEARCH_MISSING` */
function startKeywordQuery(
  { indexName, index: { table, language } }: QueryPlace,
  queryText: string,
  parameters: SqlParameters,
): { table: string; language: string; text: string } {
  if (!language) {
    throw new QuiverError(
      'VECTOR_TEXT_SEARCH_MISSING',
      `The index '${indexName}' was made without text search, so it has no words to look for. Add them once with addTextSearch({ indexName: '${indexName}' }).`,
      { details: { indexName } },
    );
  }
  // Characters that PostgreSQL cannot store are not part of any term.
  const text = parameters.addValue(queryText.replaceAll(/[\0\p{Surrogate}]/gu, ' '));
  return { table, language: languageConstant(language), text };
}

/** @throws `VECTOR_INDEX_CHANGED` when rows are from another table than the one that is known */
async function runQuery(
  { database, params, index, indexName }: QueryPlace,
  sql: string,
  { values }: SqlParameters,
): Promise<SqlRow[]> {
  const rows = await database.query(sql, values, params.signal);
  const oid = rows[0]?.['table_oid'] ?? index.oid;
  if (oid === index.oid) return rows;
  throw new QuiverError(
    'VECTOR_INDEX_CHANGED',
    `The index '${indexName}' is being made anew while it is queried. Try again when that is done.`,
    { details: { indexName } },
  );
}

/** For vector search: in a recreated table, distances may be of another metric. */
function tableOid({ table }: OpenIndex): string {
  return `'${table}'::pg_catalog.regclass::oid::int8::float8 AS table_oid`;
}

function toColumns(includeVector: boolean): string[] {
  return ['metadata', 'document', ...(includeVector ? ['embedding::text AS vector'] : [])];
}

function toScored(row: SqlRow): VectorMatch {
  return { ...toRecord(row), score: Math.min(1, row['score'] as number) };
}

/** The first rows in an exact order; page by page, where the condition lets too much through. */
async function collect(
  wanted: number,
  filter: Filter | undefined,
  condition: SqlCondition,
  read: (limit: number, offset: number) => Promise<SqlRow[]>,
): Promise<SqlRow[]> {
  if (condition.exact) return read(wanted, 0);
  const found: SqlRow[] = [];
  let limit = Math.max(100, wanted * candidatesPerResult);
  let offset = 0;
  while (found.length < wanted) {
    const rows = await read(limit, offset);
    found.push(...keepMatching(rows, filter, condition));
    if (rows.length < limit) break;
    offset += limit;
    limit *= 4;
  }
  return found.slice(0, wanted);
}
