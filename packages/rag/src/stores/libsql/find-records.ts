import { plainQueryTerms } from '../../words/record-terms.js';
import type { NearestSearch, TermSearch } from '../../store/record-store.js';
import { collectMatching } from '../../store/paging.js';
import type { FoundRecord } from '../../store/search.js';
import { SqlParameters } from '../sql-filter.js';
import { filterToSqlite } from './filter-to-sqlite.js';
import type { LibSQLDatabase } from './libsql-database.js';
import { frequenciesTable, type LibSQLIndex, recordsTable, statement, termsTable } from './libsql-index.js';
import { lengthOf, recordColumns, toBytes, toRecord } from './records.js';

/** Compares all vectors that match the filter. */
export async function findNearest(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  { vector, limit, includeVector, filter }: NearestSearch,
): Promise<FoundRecord[]> {
  const parameters = new SqlParameters('?');
  const distance = distanceSql(index, vector, parameters);
  const { sql: where, rest } = filterToSqlite(filter, parameters);
  const table = recordsTable(index);
  // The other columns are read only for the best records.
  const rows = await collectMatching(limit, rest, async (size, offset) => {
    const found = await database.query(
      `SELECT ${recordColumns(includeVector)}, distance FROM (
         SELECT number AS found, ${distance} AS distance FROM ${table} WHERE ${where} ORDER BY distance, id LIMIT ${size} OFFSET ${offset}
       ) JOIN ${table} ON number = found ORDER BY distance, id`,
      parameters.values,
    );
    return found.map((row) => ({ ...toRecord(row), distance: Number(row['distance']) }));
  });
  return rows.map(({ distance: found, ...record }) => {
    const similarity = index.metric === 'cosine' ? 1 - found : index.metric === 'euclidean' ? -(found * found) : -found;
    return { record, similarity };
  });
}

/** An expression that is smaller for better records. Vectors of zeros have the cosine similarity 0, and libSQL gives NULL. */
function distanceSql({ metric }: LibSQLIndex, vector: Float32Array, parameters: SqlParameters): string {
  const query = parameters.addValue(toBytes([vector]));
  if (metric === 'euclidean') return `COALESCE(vector_distance_l2(embedding, ${query}), 9e999)`;
  const cosine = `COALESCE(vector_distance_cos(embedding, ${query}), 1)`;
  return metric === 'cosine' ? cosine : `(${cosine} - 1) * length * ${parameters.addValue(lengthOf(vector))}`;
}

/** The constant of BM25 for the saturation of repeated terms, as in FTS5. */
const k1 = 1.2;
/** FTS5 gives this weight to terms that more than half of the texts have. */
const smallestWeight = 1e-6;

/** FTS5 looks at every term of the query for every text that has one of them. */
const mostTerms = 500;

/**
 * Records that share a term with the query (its first 500 different ones), ordered by `bm25()` of FTS5. The score is the share of the largest sum that any text
 * could reach.
 *
 * @see [The bm25() function](https://www.sqlite.org/fts5.html#the_bm25_function)
 */
export async function findByTerms(
  database: LibSQLDatabase,
  index: LibSQLIndex,
  { queryText, limit, includeVector, filter }: TermSearch,
): Promise<FoundRecord[]> {
  const wanted = (await plainQueryTerms(index.analyzer, queryText)).slice(0, mostTerms);
  if (wanted.length === 0) return [];
  const table = recordsTable(index);
  const terms = termsTable(index);
  const parameters = new SqlParameters('?');
  // Quoted, a term is never an operator of the query language.
  const query = parameters.addValue(wanted.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR '));
  const { sql: where, rest } = filterToSqlite(filter, parameters);
  let weights: ReadonlyMap<unknown, number> | undefined;
  const rows = await collectMatching(limit, rest, async (size, offset) => {
    const [found = [], counts = [], frequencies = []] = await database.queryAll([
      statement(
        `SELECT ${recordColumns(includeVector)}, relevance FROM (
           SELECT number AS found, -bm25(${terms}) AS relevance FROM ${terms} JOIN ${table} ON number = ${terms}.rowid
           WHERE ${terms} MATCH ${query} AND ${where} ORDER BY relevance DESC, id LIMIT ${size} OFFSET ${offset}
         ) JOIN ${table} ON number = found ORDER BY relevance DESC, id`,
        ...(parameters.values as string[]),
      ),
      statement(`SELECT count(*) AS count FROM ${table}`),
      statement(
        `SELECT term, doc FROM ${frequenciesTable(index)} WHERE term IN (SELECT value FROM json_each(?1))`,
        JSON.stringify(wanted),
      ),
    ]);
    const count = Number(counts[0]?.['count']);
    weights ??= new Map(frequencies.map(({ term, doc }) => [term, termWeight(count, Number(doc))]));
    return found.map((row) => ({ ...toRecord(row), relevance: Number(row['relevance']) }));
  });
  const largest = wanted.reduce((sum, term) => sum + (weights?.get(term) ?? 0) * (k1 + 1), 0);
  return rows.map(({ relevance, ...record }) => ({ record, similarity: relevance / largest }));
}

function termWeight(count: number, frequency: number): number {
  return Math.max(smallestWeight, Math.log((count - frequency + 0.5) / (frequency + 0.5)));
}
