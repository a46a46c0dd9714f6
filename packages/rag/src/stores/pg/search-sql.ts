import { fusionConstant } from '../../retrieval/reciprocal-rank-fusion.js';
import type { QueryParams, VectorMetric } from '../../store/vector-store.js';
import { indexedElements, wordsColumn } from './create-index.js';
import { requireInteger } from './filter-to-sql.js';
import type { OpenIndex } from './pg-index.js';

/** A setting of the database, for one statement. Both parts are ours or checked. */
export type SearchSetting = readonly [name: string, value: string | number];

export interface NearestSqlOptions {
  readonly index: OpenIndex;
  /** Place of the query vector. */
  readonly vector: string;
  /** Columns of the result in addition to `id` and `distance`. */
  readonly columns: readonly string[];
  /** A condition on a row. */
  readonly where: string;
  readonly limit: number;
}

/** Rows nearest first, and by id where distances are equal. All rows are compared, without an index. */
export function exactSql({
  index,
  columns,
  where,
  limit,
  ...options
}: NearestSqlOptions & { offset?: number }): string {
  // No index can give this order, so the planner has no choice; and each distance is calculated once.
  const distance = `(${distanceSql(index, options.vector)}) + 0 AS distance`;
  return `SELECT ${['id', ...columns, distance].join(', ')} FROM ${index.table} WHERE ${where} ORDER BY distance, id LIMIT ${limit} OFFSET ${options.offset ?? 0}`;
}

/**
 * Rows nearest first, and by id where distances are equal, as far as the index finds them.
 *
 * Its settings are part of the statement, so that one round trip is enough and nothing of them is left behind in a connection that
 * others use: the row of the settings must exist before the joined scan can begin.
 */
export function approximateSql({
  index,
  vector,
  columns,
  where,
  limit,
  settings,
}: NearestSqlOptions & { settings: readonly SearchSetting[] }): string {
  const { vectorType, dimension, extension } = index;
  const distance = distanceSql(index, vector);
  const elements = indexedElements(index);
  // An index is only used for an order by distance alone. Ties, and what it orders nearly right, are put right outside; where its
  // numbers are coarser, from more rows.
  const indexed =
    elements === vectorType
      ? distance
      : `embedding::${extension.schema}.${elements}(${dimension}) ${operatorSql(index)} ${vector}::${extension.schema}.vector::${extension.schema}.${elements}(${dimension})`;
  const candidates = elements === vectorType ? limit : limit * candidatesPerResult;
  const selected = ['id', ...columns, `${distance} AS distance`].join(', ');
  const scan = (condition: string): string =>
    `(SELECT ${selected} FROM ${index.table} WHERE ${condition} ORDER BY ${indexed} LIMIT ${candidates}) AS candidates`;
  const order = `ORDER BY distance, id LIMIT ${limit}`;
  if (settings.length === 0) return `SELECT * FROM ${scan(where)} ${order}`;
  const set = settings.map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`).join(' || ');
  return `SELECT candidates.* FROM (SELECT ${set} AS made) AS settings CROSS JOIN LATERAL ${scan(`settings.made IS NOT NULL AND ${where}`)} ${order}`;
}

export const candidatesPerResult = 4;

const operators: Readonly<Record<VectorMetric, string>> = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' };

function operatorSql({ metric, extension }: OpenIndex): string {
  return `OPERATOR(${extension.schema}.${operators[metric]})`;
}

function distanceSql(index: OpenIndex, vector: string): string {
  const { extension, vectorType } = index;
  const cast = vectorType === 'vector' ? '' : `::${extension.schema}.${vectorType}`;
  return `embedding ${operatorSql(index)} ${vector}::${extension.schema}.vector${cast}`;
}

/** As `toScore` takes it. A vector of zeros has no direction: PostgreSQL says NaN, and it is similar to nothing. */
export function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -(distance * distance);
  if (metric === 'dotproduct') return -distance;
  return Number.isNaN(distance) ? 0 : 1 - distance;
}

export interface KeywordSqlOptions {
  readonly table: string;
  /** The language as a constant, see `languageConstant`. */
  readonly language: string;
  /** Placeholder of the query text. */
  readonly text: string;
  readonly columns: readonly string[];
  readonly where: string;
  readonly limit: number;
  readonly offset?: number;
}

/** Above this number of rows, their number is taken from the statistics of the database. */
const countedRows = 10_000;

/**
 * The terms of the query with their weights, as common table expressions: `question_words (word, weight)` and
 * `question (largest)`.
 *
 * A rare word weighs more than a frequent one, as in BM25: ln(1 + (N - n + 0.5) / (n + 0.5)) where n of N rows have it.
 *
 * @see Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond. 2009. https://doi.org/10.1561/1500000019
 */
export function questionSql({ table, language, text }: Pick<KeywordSqlOptions, 'table' | 'language' | 'text'>): string {
  // A term of a text search query is quoted; quotes and backslashes inside are doubled.
  const quoted = `(chr(39) || replace(replace(lexeme, chr(92), chr(92) || chr(92)), chr(39), chr(39) || chr(39)) || chr(39))::tsquery`;
  return `table_size AS MATERIALIZED (
    SELECT CASE WHEN c.reltuples > ${countedRows} THEN c.reltuples::float8 ELSE (SELECT count(*) FROM ${table})::float8 END AS total
    FROM pg_catalog.pg_class c WHERE c.oid = '${table}'::pg_catalog.regclass
  ), question_words AS MATERIALIZED (
    SELECT word, ln(1 + (GREATEST(total - found, 0) + 0.5) / (found + 0.5)) AS weight
    FROM table_size, (SELECT ${quoted} AS word FROM unnest(pg_catalog.to_tsvector(${language}, ${text}::text))) AS words
    CROSS JOIN LATERAL (SELECT count(*)::float8 AS found FROM ${table} WHERE ${wordsColumn} @@ word) AS counts
  ), question AS MATERIALIZED (
    SELECT sum(weight) AS largest FROM question_words
  )`;
}

/**
 * Rows that share a term with the query, best first and by id where scores are equal. Needs {@link questionSql}.
 *
 * The score is the sum over the words of weight times `ts_rank`, which grows ever less with each further occurrence, divided by the
 * logarithm of the text's length; then divided by the largest possible sum.
 *
 * @see [ts_rank](https://www.postgresql.org/docs/current/textsearch-controls.html#TEXTSEARCH-RANKING)
 */
export function keywordSql({
  table,
  columns,
  where,
  limit,
  offset = 0,
}: Omit<KeywordSqlOptions, 'language' | 'text'>): string {
  const rank = `pg_catalog.ts_rank('{1,1,1,1}', ${wordsColumn}, word, 1)::float8`;
  const order = 'ORDER BY score DESC, id';
  // Word by word, so that a text is only ranked by those it has.
  const best = `SELECT id, sum(weight * ${rank}) / (SELECT largest FROM question) AS score FROM question_words JOIN ${table} ON ${wordsColumn} @@ word WHERE ${where} GROUP BY id ${order} LIMIT ${limit} OFFSET ${offset}`;
  if (columns.length === 0) return best;
  return `SELECT ${['id', ...columns, 'score'].join(', ')} FROM (${best}) AS best JOIN ${table} USING (id) ${order}`;
}

export interface HybridSqlOptions {
  readonly nearest: Omit<NearestSqlOptions, 'columns' | 'limit'>;
  readonly keyword: Omit<KeywordSqlOptions, 'columns' | 'limit' | 'offset' | 'where'>;
  /** Absent: all vectors are compared. */
  readonly settings: readonly SearchSetting[] | undefined;
  readonly columns: readonly string[];
  /** Rows of each ranking that are merged. */
  readonly depth: number;
  readonly limit: number;
  /** Places of the weights. */
  readonly weights: { readonly vector: string; readonly keyword: string };
}

/**
 * Both rankings, merged by reciprocal rank fusion, in one statement. Where the index of the vectors finds fewer than `depth` rows, all
 * are compared.
 */
export function hybridSql({ nearest, keyword, settings, columns, depth, limit, weights }: HybridSqlOptions): string {
  const { table } = nearest.index;
  const all = (where: string): string => exactSql({ ...nearest, where, columns: [], limit: depth });
  const near =
    settings === undefined
      ? `near AS MATERIALIZED (${all(nearest.where)})`
      : `found AS MATERIALIZED (${approximateSql({ ...nearest, columns: [], limit: depth, settings })}),
         near AS (SELECT * FROM found WHERE (SELECT count(*) FROM found) >= ${depth}
           UNION ALL (${all(`(SELECT count(*) FROM found) < ${depth} AND ${nearest.where}`)}))`;
  const share = (weight: string): string => `${weight}::float8 / (${fusionConstant} + row_number() OVER`;
  return `WITH ${near}, ${questionSql(keyword)},
    by_words AS (${keywordSql({ table, columns: [], where: nearest.where, limit: depth })}),
    shares AS (
      SELECT id, ${share(weights.vector)} (ORDER BY distance, id)) AS share FROM near
      UNION ALL SELECT id, ${share(weights.keyword)} (ORDER BY score DESC, id)) FROM by_words
    ), fused AS (
      SELECT id, sum(share) / ((${weights.vector}::float8 + ${weights.keyword}::float8) / ${fusionConstant + 1}) AS score
      FROM shares GROUP BY id ORDER BY score DESC, id LIMIT ${limit}
    )
    SELECT ${['id', ...columns, 'score'].join(', ')} FROM fused JOIN ${table} USING (id) ORDER BY score DESC, id`;
}

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

export interface PgQueryParams extends QueryParams, PgVectorConfig {
  /** Compares all vectors: slower, and nothing is missed. Default `false`. */
  exact?: boolean;
  /** Another place for `ef` and `probes`. */
  options?: { ef?: number; probes?: number };
}

/** Default of pgvector. */
const defaultEf = 40;
const largestEf = 1000;

/**
 * Returns the settings of a search through the index that differ from the defaults of the database.
 *
 * @throws `VECTOR_ARGUMENT_INVALID`
 */
export function searchSettings(
  index: OpenIndex,
  { options, ...params }: Pick<PgQueryParams, 'ef' | 'probes' | 'options'>,
  { hasFilter, wanted }: { hasFilter: boolean; wanted: number },
): SearchSetting[] {
  const ef = optional('ef', params.ef ?? options?.ef, largestEf);
  const probes = optional('probes', params.probes ?? options?.probes, 32_768);
  if (index.type === 'flat') return [];
  const settings: SearchSetting[] = [];
  if (index.type === 'hnsw') {
    const kept = ef ?? Math.min(largestEf, Math.max(defaultEf, wanted * candidatesPerResult));
    if (ef !== undefined || kept !== defaultEf) settings.push(['hnsw.ef_search', kept]);
    // The order is put right outside, and this way fewer rows are thrown away on the way.
    if (index.extension.scansOn && (hasFilter || wanted * candidatesPerResult > kept))
      settings.push(['hnsw.iterative_scan', 'relaxed_order']);
  } else {
    settings.push(['ivfflat.probes', probes ?? Math.ceil(Math.sqrt(index.config['lists'] ?? 1))]);
    if (index.extension.scansOn) settings.push(['ivfflat.iterative_scan', 'relaxed_order']);
  }
  return settings;
}

function optional(name: string, value: number | undefined, largest: number): number | undefined {
  return value === undefined ? undefined : requireInteger(name, value, 1, largest);
}
