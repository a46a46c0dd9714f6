import { invalidArgument } from '../../store/check-arguments.js';
import { textKeys } from '../../store/record-text.js';
import type { PgTarget } from './build-index.js';
import { readIndex, toComment, type PgLanguage } from './pg-index.js';
import type { SqlQuery } from './sql-database.js';
import { quoteIdentifier, requireTextSearchName } from './sql-text.js';

/** The column of the words of each record: the database keeps it up to date, whoever changes the row. */
export const wordsColumn = 'words';

/** The column as part of a statement. The text is the document or, without one, the usual keys of the metadata. */
export function textSearchColumn(language: PgLanguage): string {
  const text = [
    `NULLIF(document, '')`,
    ...textKeys.map((key) => `CASE jsonb_typeof(metadata -> '${key}') WHEN 'string' THEN metadata ->> '${key}' END`),
    `''`,
  ];
  return `${wordsColumn} tsvector GENERATED ALWAYS AS (pg_catalog.to_tsvector(${languageConstant(language)}, COALESCE(${text.join(', ')}))) STORED`;
}

export function textSearchIndexName(indexName: string): string {
  return `${indexName}_words_idx`;
}

export function textSearchIndex({ schemaName, indexName }: PgTarget): string {
  return `CREATE INDEX ${quoteIdentifier(textSearchIndexName(indexName))} ON ${quoteIdentifier(schemaName)}.${quoteIdentifier(indexName)} USING gin (${wordsColumn})`;
}

/** Adds what keyword search needs to an index that was made without it, or for another language. */
export async function addTextSearch(query: SqlQuery, target: PgTarget, name: string): Promise<void> {
  const index = await readIndex(query, target.schemaName, target.indexName);
  const language = await readLanguage(query, name);
  if (!index || (index.language?.schema === language.schema && index.language.name === language.name)) return;
  const { table, metric } = index;
  await query(`ALTER TABLE ${table} DROP COLUMN IF EXISTS ${wordsColumn}`);
  await query(`ALTER TABLE ${table} ADD COLUMN ${textSearchColumn(language)}`);
  await query(textSearchIndex(target));
  await query(`COMMENT ON TABLE ${table} IS ${toComment(metric, language)}`);
}

/** The language as a constant of a statement. */
export function languageConstant({ schema, name }: PgLanguage): string {
  return `'${quoteIdentifier(schema)}.${quoteIdentifier(name)}'::pg_catalog.regconfig`;
}

/** @throws `VECTOR_ARGUMENT_INVALID` for a language that the database does not have */
export async function readLanguage(query: SqlQuery, name: string): Promise<PgLanguage> {
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
