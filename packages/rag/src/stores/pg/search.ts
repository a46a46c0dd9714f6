import type { QueryParams, VectorMetric } from '../../store/vector-store.js';
import { largestLists, quantizedSql } from './build-index.js';
import { castToStored, type ExistingIndex, requireInteger, tableOid, wordsColumn } from './pg-index.js';

/** Block `pgvector` of a query tool's `databaseConfig`. */
export interface PgVectorConfig {
  /** Only results with a score above this. */
  minScore?: number;
  /**
   * Candidates that a search through an HNSW index keeps, 1 to 1,000: more find more, and take longer. Default four per result, at
   * least 40.
   */
  ef?: number;
  /** Lists that a search through an IVFFlat index visits. Default: the square root of their number. */
  probes?: number;
}

/** Parameters of `query()` of `PgVector`. */
export interface PgQueryParams extends QueryParams, PgVectorConfig {
  /** Whether to compare all vectors, which is slower and exact. Default `false`. */
  exact?: boolean;
}

/** A database setting for one statement. Name and value are constants or checked. */
export type SearchSetting = readonly [name: string, value: string | number];

interface NearestSqlOptions {
  readonly index: ExistingIndex;
  /** Place of the query vector. */
  readonly vector: string;
  /** Columns of the result in addition to `id` and `distance`. */
  readonly columns: readonly string[];
  /** A condition on a row. */
  readonly where: string;
  readonly limit: number;
}

/** Rows nearest first, and by id where distances are equal. All rows are compared, without an index. */
export function exactSql({ index, columns, where, limit, vector }: NearestSqlOptions): string {
  // No index can give this order, so the planner has no choice; and each distance is calculated once.
  const distance = `(${distanceSql(index, vector)}) + 0 AS distance`;
  return `SELECT ${['id', ...columns, distance].join(', ')} FROM ${index.table} WHERE ${where} ORDER BY distance, id LIMIT ${limit}`;
}

/**
 * Rows nearest first, and by id where distances are equal, as far as the index finds them.
 *
 * Its settings are part of the statement, so that one round trip is enough and a pooled connection keeps none of them: the row of the settings must exist before the joined scan can begin.
 */
export function approximateSql({
  index,
  vector,
  columns,
  where,
  limit,
  settings,
}: NearestSqlOptions & { settings: readonly SearchSetting[] }): string {
  const { vectorType, extension, elements = vectorType } = index;
  const distance = distanceSql(index, vector);
  // An index is only used for an order by distance alone. Ties, and what it orders nearly right, are put right outside; where its
  // numbers are coarser, from more rows.
  const [stored, wanted] = ['embedding', `${vector}::${extension.schema}.vector`].map((value) =>
    quantizedSql(value, elements, index),
  );
  const operator = elements === 'bit' ? `OPERATOR(${extension.schema}.<~>)` : operatorSql(index);
  const indexed = elements === vectorType ? distance : `${stored} ${operator} ${wanted}`;
  const candidates = Math.max(limit * rescoredPerResult(index), limit + tiedRows);
  const selected = ['id', ...columns, `${distance} AS distance`].join(', ');
  const scan = (condition: string): string =>
    `(SELECT ${selected} FROM ${index.table} WHERE ${condition} ORDER BY ${indexed} LIMIT ${candidates}) AS candidates`;
  const order = `ORDER BY distance, id LIMIT ${limit}`;
  if (settings.length === 0) return `SELECT * FROM ${scan(where)} ${order}`;
  const set = settings.map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`).join(' || ');
  return `SELECT candidates.* FROM (SELECT ${set} AS made) AS settings CROSS JOIN LATERAL ${scan(`settings.made IS NOT NULL AND ${where}`)} ${order}`;
}

/**
 * Rows that the index returns in addition to the result, so that the usual ties at the last place are settled by id. Among more equal vectors, such
 * as those of a footer on thousands of pages, the index chooses: only a comparison of all rows could settle them.
 */
const tiedRows = 20;

/** Candidates that a search through an HNSW index keeps for each result by default. */
const efPerResult = 4;

/**
 * Returns how many candidates of the index are compared by the stored vectors for each result.
 *
 * Signs alone give a coarse order: of 10,000 synthetic vectors of 1,024 dimensions, 100 candidates contained .987 of the 10 nearest (.92 to .98 at 512
 * dimensions, .80 to .92 at 256).
 */
function rescoredPerResult({ vectorType, elements = vectorType }: ExistingIndex): number {
  return elements === 'bit' ? 10 : elements === vectorType ? 1 : 4;
}

const operators: Readonly<Record<VectorMetric, string>> = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' };

function operatorSql({ metric, extension }: ExistingIndex): string {
  return `OPERATOR(${extension.schema}.${operators[metric]})`;
}

function distanceSql(index: ExistingIndex, vector: string): string {
  return `embedding ${operatorSql(index)} ${vector}::${index.extension.schema}.vector${castToStored(index)}`;
}

/** Above this number of rows, their number is taken from the statistics of the database. */
const countedRows = 10_000;

/**
 * Rows that share a term with the query, best first and by id where scores are equal.
 *
 * A rare term weighs more than a frequent one, as in BM25: ln(1 + (N - n + 0.5) / (n + 0.5)) where n of N rows have it. The score is the
 * sum over the terms of weight times `ts_rank`, which grows ever less with each further occurrence, divided by the logarithm of the
 * text's length; then divided by the largest possible sum.
 *
 * @param lexemes - source of rows with a term of the query and its weight in the query
 * @see Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond. 2009. https://doi.org/10.1561/1500000019
 * @see [ts_rank](https://www.postgresql.org/docs/current/textsearch-controls.html#TEXTSEARCH-RANKING)
 */
export function keywordSql(
  index: ExistingIndex,
  lexemes: string,
  { columns, where, limit }: Pick<NearestSqlOptions, 'columns' | 'where' | 'limit'>,
): string {
  const { table } = index;
  // A term of a text search query is quoted; quotes and backslashes inside are doubled.
  const quoted = `(chr(39) || replace(replace(lexeme, chr(92), chr(92) || chr(92)), chr(39), chr(39) || chr(39)) || chr(39))::tsquery`;
  const rank = `pg_catalog.ts_rank('{1,1,1,1}', ${wordsColumn}, word, 1)::float8`;
  const order = 'ORDER BY score DESC, id';
  // Term by term, so that a text is only ranked by its own terms.
  return `WITH table_size AS MATERIALIZED (
    SELECT CASE WHEN c.reltuples > ${countedRows} THEN c.reltuples::float8 ELSE (SELECT count(*) FROM ${table})::float8 END AS total
    FROM pg_catalog.pg_class c WHERE c.oid = '${table}'::pg_catalog.regclass
  ), terms AS MATERIALIZED (
    SELECT word, share * ln(1 + (GREATEST(total - found, 0) + 0.5) / (found + 0.5)) AS weight
    FROM table_size, (SELECT ${quoted} AS word, share FROM ${lexemes} AS term(lexeme, share)) AS words
    CROSS JOIN LATERAL (SELECT count(*)::float8 AS found FROM ${table} WHERE ${wordsColumn} @@ word) AS counts
  ), best AS (
    SELECT id, sum(weight * ${rank}) / (SELECT sum(weight) FROM terms) AS score
    FROM terms JOIN ${table} ON ${wordsColumn} @@ word WHERE ${where} GROUP BY id ${order} LIMIT ${limit}
  )
  SELECT ${['id', ...columns, 'score', 'table_oid'].join(', ')}
  FROM (SELECT ${tableOid(index)}) AS current LEFT JOIN (best JOIN ${table} USING (id)) ON true ${order}`;
}

/** Default of pgvector. */
const defaultEf = 40;
const largestEf = 1000;

/**
 * Returns the settings of a search through the index that differ from the defaults of the database.
 *
 * @throws `OPTIONS_INVALID`
 */
export function searchSettings(
  index: ExistingIndex,
  params: Pick<PgQueryParams, 'ef' | 'probes'>,
  { hasFilter, wanted }: { hasFilter: boolean; wanted: number },
): SearchSetting[] {
  const integer = (name: 'ef' | 'probes', largest: number): number | undefined =>
    params[name] === undefined ? undefined : requireInteger(name, params[name], 1, largest);
  const ef = integer('ef', largestEf);
  const probes = integer('probes', largestLists);
  if (index.type === 'flat') return [];
  const settings: SearchSetting[] = [];
  if (index.type === 'hnsw') {
    const needed = wanted * Math.max(efPerResult, rescoredPerResult(index));
    const kept = ef ?? Math.min(largestEf, Math.max(defaultEf, needed));
    if (ef !== undefined || kept !== defaultEf) settings.push(['hnsw.ef_search', kept]);
    // The order is put right outside, and this way fewer rows are thrown away on the way.
    if (index.extension.scansOn && (hasFilter || needed > kept))
      settings.push(['hnsw.iterative_scan', 'relaxed_order']);
  } else {
    settings.push(['ivfflat.probes', probes ?? Math.ceil(Math.sqrt(index.config['lists'] ?? 1))]);
    if (index.extension.scansOn) settings.push(['ivfflat.iterative_scan', 'relaxed_order']);
  }
  return settings;
}
