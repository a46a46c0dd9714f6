import { invalidArgument } from '../../store/check-arguments.js';
import { fieldToSql } from './filter-to-sql.js';
import type { SqlQuery } from './sql-database.js';
import { quoteIdentifier } from './sql-text.js';

/**
 * Indexes that answer equality with a field. With them the planner also knows how many rows have a value, and chooses between the
 * index of the vectors and comparing just these rows. One that is there is kept.
 *
 * @param fields - such as `tenant` or `author.name`
 * @throws `VECTOR_ARGUMENT_INVALID`
 */
export async function createMetadataIndexes(
  query: SqlQuery,
  { schemaName, indexName, fields }: { schemaName: string; indexName: string; fields: readonly string[] },
): Promise<void> {
  for (const field of fields) requireIndexableField(field);
  const table = `${quoteIdentifier(schemaName)}.${quoteIdentifier(indexName)}`;
  for (const field of fields) {
    const [row] = await query(`SELECT pg_catalog.left(pg_catalog.md5($1::text), 8) AS hash`, [field]);
    const name = quoteIdentifier(`${indexName}_m${String(row?.['hash'])}`);
    const expression = fieldToSql(field.split('.'), 'metadata', (key) => `'${key}'`);
    await query(`CREATE INDEX IF NOT EXISTS ${name} ON ${table} USING gin ((${expression}) jsonb_path_ops)`);
  }
}

/** These stand in the text of statements, so nothing that could end a string may pass. */
function requireIndexableField(field: unknown): void {
  if (typeof field === 'string' && /^[a-z_][\w-]*(?:\.[a-z_][\w-]*)*$/i.test(field) && field.length <= 200) return;
  throw invalidArgument(
    `metadataIndexes cannot have '${String(field)}': name a field by ASCII letters, digits, '_' and '-', nested ones with dots.`,
  );
}
