import { invalidArgument } from '../../store/check-arguments.js';
import type { PgTarget } from './build-index.js';
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
  target: PgTarget & { fields: readonly string[] },
): Promise<void> {
  const table = `${quoteIdentifier(target.schemaName)}.${quoteIdentifier(target.indexName)}`;
  for (const { field, name } of await missingMetadataIndexes(query, target)) {
    const expression = fieldToSql(field.split('.'), 'metadata', (key) => `'${key}'`);
    await query(`CREATE INDEX ${quoteIdentifier(name)} ON ${table} USING gin ((${expression}) jsonb_path_ops)`);
  }
}

/** Asked by name, since `IF NOT EXISTS` would wait for whoever writes, and needs the rights of the owner. */
export async function missingMetadataIndexes(
  query: SqlQuery,
  { schemaName, indexName, fields }: PgTarget & { fields: readonly string[] },
): Promise<{ field: string; name: string }[]> {
  if (!Array.isArray(fields)) throw invalidArgument(`metadataIndexes must be a list of fields, not ${String(fields)}.`);
  for (const field of fields) requireIndexableField(field);
  const rows = await query(
    `SELECT field, name FROM (
       SELECT DISTINCT field, $1::text || '_m' || pg_catalog.left(pg_catalog.md5(field), 8) AS name FROM unnest($2::text[]) AS field
     ) AS wanted
     WHERE NOT EXISTS (
       SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $3::text AND c.relname = wanted.name
     )`,
    [indexName, fields, schemaName],
  );
  return rows.map(({ field, name }) => ({ field: String(field), name: String(name) }));
}

/** These stand in the text of statements, so nothing that could end a string may pass. */
function requireIndexableField(field: unknown): void {
  if (typeof field === 'string' && /^[a-z_][\w-]*(?:\.[a-z_][\w-]*)*$/i.test(field) && field.length <= 200) return;
  throw invalidArgument(
    `metadataIndexes cannot have '${String(field)}': name a field by ASCII letters, digits, '_' and '-', nested ones with dots.`,
  );
}
