import { wordsColumn } from './text-search.js';

export interface KeywordSqlOptions {
  readonly table: string;
  /** The language as a constant, see `languageConstant`. */
  readonly language: string;
  /** Place of the question. */
  readonly text: string;
  readonly columns: readonly string[];
  readonly where: string;
  readonly limit: number;
  readonly offset?: number;
}

/** Above this number of rows, their number is taken from the statistics of the database. */
const countedRows = 10_000;

/**
 * The words of the question with their weights, as common table expressions: `question_words (word, weight)` and
 * `question (largest)`.
 *
 * A rare word weighs more than a frequent one, as in BM25: ln(1 + (N - n + 0.5) / (n + 0.5)) where n of N rows have it.
 *
 * @see Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond. 2009. https://doi.org/10.1561/1500000019
 */
export function questionSql({ table, language, text }: Pick<KeywordSqlOptions, 'table' | 'language' | 'text'>): string {
  // A word of a text search query stands in quotes, which are doubled inside, as backslashes are.
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
 * Rows that share a word with the question, best first and by id where scores are equal. Needs {@link questionSql}.
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
