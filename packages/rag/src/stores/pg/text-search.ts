import { invalidOptions } from '@quiver/core/internal';
import { queryTerms, recordTerms } from '../../words/record-terms.js';
import { contextKey } from '../../document/metadata-keys.js';
import { textKeys } from '../../store/record-text.js';
import type { VectorRecord } from '../../store/vector-store.js';
import type { SqlQuery } from './database.js';
import { quoteIdentifier } from './sql-text.js';
import { longestIdentifier, type PgLanguage, type PgTarget, readIndex, toComment, wordsColumn } from './pg-index.js';

export const defaultLanguage = 'english';

/**
 * The column as part of a statement. Its text is that of `keywordText`: the document or the usual keys of the metadata, and what is above it,
 * here also where the text begins with it.
 */
export function textSearchColumn(language: PgLanguage): string {
  const ofText = (key: string, value: string): string =>
    `CASE jsonb_typeof(metadata -> '${key}') WHEN 'string' THEN ${value} END`;
  const orEmpty = (part: string): string => `COALESCE(${part} || ' ', '')`;
  const text = [`NULLIF(document, '')`, ...textKeys.map((key) => ofText(key, `metadata ->> '${key}'`))].join(', ');
  const above = [
    ofText('title', `metadata ->> 'title'`),
    // The parser would take a name with a dot for one word.
    ofText('source', `translate(substring(metadata ->> 'source' from '[^/]*$'), '._-', '   ')`),
    `CASE jsonb_typeof(metadata -> 'headings') WHEN 'array' THEN metadata ->> 'headings' END`,
  ].map(orEmpty);
  // Title, file name and headings twice, the context once, as in `keywordText`.
  const context = orEmpty(ofText(contextKey, `metadata ->> '${contextKey}'`));
  const all = [...above, ...above, context, `COALESCE(${text})`];
  const words = `pg_catalog.to_tsvector(${languageConstant(language)}, ${all.join(' || ')})`;
  return `${wordsColumn} tsvector GENERATED ALWAYS AS (CASE WHEN COALESCE(${text}) IS NULL THEN ''::tsvector ELSE ${words} END) STORED`;
}

export function textSearchIndexName(indexName: string): string {
  return `${indexName}_words_idx`;
}

export function textSearchIndex({ schemaName, indexName }: PgTarget): string {
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

/** @throws `OPTIONS_INVALID` for a language that the database does not have */
export async function readLanguage(query: SqlQuery, name: string): Promise<PgLanguage> {
  requireTextSearchName(name);
  const rows = await query(
    `SELECT n.nspname AS schema, c.cfgname AS name FROM pg_catalog.pg_ts_config c JOIN pg_catalog.pg_namespace n ON n.oid = c.cfgnamespace ORDER BY n.nspname <> 'pg_catalog', c.cfgname`,
  );
  const found = rows.find((row) => row['name'] === name);
  if (found && /^\w+$/.test(String(found['schema']))) return { schema: String(found['schema']), name };
  throw invalidOptions(
    `The database has no text search configuration '${name}'; it has: ${rows.map((row) => String(row['name'])).join(', ')}.`,
  );
}

/** Names of languages become part of the text of statements. @throws `OPTIONS_INVALID` */
function requireTextSearchName(name: string): void {
  if (typeof name === 'string' && /^[a-z_][a-z0-9_]*$/i.test(name) && name.length <= longestIdentifier) return;
  throw invalidOptions(
    `'${String(name)}' cannot name a text search configuration, such as 'english' or 'simple': use letters, digits and '_'.`,
  );
}

/** Limits of a `tsvector`: bytes of a lexeme, and the largest position. */
const longestLexeme = 2046;
const largestPosition = 16_383;

/** Returns the terms of each record as `tsvector` in text form, which PostgreSQL stores unchanged. */
export async function recordTsvectors(
  analyzerId: string,
  records: readonly Pick<VectorRecord, 'document' | 'metadata'>[],
): Promise<string[]> {
  return (await recordTerms(analyzerId, records)).map(toTsvector);
}

/** Returns the different terms of a query that PostgreSQL can store, and their weights. */
export async function queryLexemes(
  analyzerId: string,
  queryText: string,
): Promise<[lexemes: string[], weights: number[]]> {
  const terms = (await queryTerms(analyzerId, queryText)).filter(([term]) => isLexeme(term));
  return [terms.map(([term]) => term), terms.map(([, weight]) => weight)];
}

function toTsvector(terms: readonly string[]): string {
  const positions = new Map<string, number[]>();
  for (const [place, term] of terms.entries()) {
    if (!isLexeme(term)) continue;
    const position = Math.min(place + 1, largestPosition);
    const list = positions.get(term);
    if (list) list.push(position);
    else positions.set(term, [position]);
  }
  // Names such as “o'reilly#” contain an apostrophe.
  return Array.from(positions, ([term, list]) => `'${term.replaceAll("'", "''")}':${list.join(',')}`).join(' ');
}

function isLexeme(term: string): boolean {
  return term.length * 3 <= longestLexeme || Buffer.byteLength(term) <= longestLexeme;
}
