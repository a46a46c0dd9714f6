import { toErrorMessage } from '@quiver/core';
import type { LanguageParams } from '../../words/term-analyzer.js';
import { indexNotFound, type IndexShape } from '../../store/checks.js';
import type { IndexCache, WantedIndex } from '../remote-store.js';
import { findIfPresent } from '../store-call.js';
import type { CreateIndexParams, DerivedData, VectorMetric } from '../../store/vector-store.js';
import type { LibSQLDatabase, LibSQLRow, LibSQLStatement, LibSQLValue } from './libsql-database.js';

/** An index as the table `quiver_indexes` describes it. */
export interface LibSQLIndex extends IndexShape {
  readonly name: string;
  /** Different for every index that was created, also under the same name. Part of the names of its tables. */
  readonly key: string;
  /** Id of the `TermAnalyzer` of the terms. */
  readonly analyzer: string;
}

/** Name of the table of records, quoted. */
export function recordsTable({ name, key }: Pick<LibSQLIndex, 'name' | 'key'>): string {
  return `"quiver_${name}_${key}"`;
}

/** Name of the full-text index, quoted. */
export function termsTable({ name, key }: Pick<LibSQLIndex, 'name' | 'key'>): string {
  return `"quiver_${name}_${key}_terms"`;
}

/** Name of the table of the terms and their frequencies, quoted. */
export function frequenciesTable({ name, key }: Pick<LibSQLIndex, 'name' | 'key'>): string {
  return `"quiver_${name}_${key}_frequencies"`;
}

export function statement(sql: string, ...args: LibSQLValue[]): LibSQLStatement {
  return { sql, args };
}

const createCatalog = [
  `CREATE TABLE IF NOT EXISTS quiver_indexes (
    name TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL, metric TEXT NOT NULL, analyzer TEXT NOT NULL, version INTEGER NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS quiver_derived (
    index_name TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (index_name, name)
  ) WITHOUT ROWID`,
].map((sql) => statement(sql));

/** Every printable character of ASCII is part of a term, because terms arrive separated by spaces. An apostrophe is written twice. */
const termCharacters = `!"#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~`;

/** Parameters of `createIndex()` of `LibSQLVector`. */
export interface LibSQLCreateIndexParams extends CreateIndexParams, LanguageParams {}

export function createTables(
  database: LibSQLDatabase,
  { name, dimension, metric, analyzer }: WantedIndex,
): Promise<void> {
  const index = { name, key: crypto.randomUUID().replaceAll('-', '').slice(0, 12) };
  const terms = termsTable(index);
  return database.write([
    ...createCatalog,
    statement(
      'INSERT INTO quiver_indexes (name, key, dimension, metric, analyzer, version) VALUES (?1, ?2, ?3, ?4, ?5, 0)',
      name,
      index.key,
      dimension,
      metric,
      analyzer,
    ),
    // Columns that filters read come before the vector; the text, which no search reads, comes after it.
    statement(`CREATE TABLE ${recordsTable(index)} (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, metadata BLOB NOT NULL, length REAL NOT NULL,
      embedding F32_BLOB(${dimension}) NOT NULL, document TEXT
    )`),
    statement(`CREATE VIRTUAL TABLE ${terms} USING fts5(
      terms, content = '', contentless_delete = 1, columnsize = 1, tokenize = "ascii tokenchars '${termCharacters.replaceAll('"', '""')}'"
    )`),
    statement(`CREATE VIRTUAL TABLE ${frequenciesTable(index)} USING fts5vocab(${terms}, 'row')`),
  ]);
}

export function dropIndex(index: LibSQLIndex): LibSQLStatement[] {
  return [
    ...[frequenciesTable(index), termsTable(index), recordsTable(index)].map((table) =>
      statement(`DROP TABLE ${table}`),
    ),
    statement('DELETE FROM quiver_indexes WHERE key = ?1', index.key),
    statement('DELETE FROM quiver_derived WHERE index_name = ?1', index.name),
  ];
}

export async function findIndex(database: LibSQLDatabase, name: string): Promise<LibSQLIndex | undefined> {
  const [row] = await readCatalog(database, 'SELECT * FROM quiver_indexes WHERE name = ?1', [name]);
  return (
    row && {
      name,
      key: String(row['key']),
      dimension: Number(row['dimension']),
      metric: row['metric'] as VectorMetric,
      analyzer: String(row['analyzer']),
    }
  );
}

export async function listIndexNames(database: LibSQLDatabase): Promise<string[]> {
  const rows = await readCatalog(database, 'SELECT name FROM quiver_indexes ORDER BY name');
  return rows.map(({ name }) => String(name));
}

/** The catalog is created together with the first index. */
async function readCatalog(database: LibSQLDatabase, sql: string, values?: readonly unknown[]): Promise<LibSQLRow[]> {
  return (await findIfPresent(() => database.query(sql, values), isMissingTable)) ?? [];
}

export function isMissingTable(error: unknown): boolean {
  return /no such table: /.test(toErrorMessage(error));
}

/**
 * Counts a change of an index. Every batch of changes contains this statement.
 *
 * @param read - version of the index when records were read that the batch replaces. The batch fails if the index has another version now
 */
export function nextVersion({ key }: LibSQLIndex, read?: number): LibSQLStatement {
  return read === undefined
    ? statement('UPDATE quiver_indexes SET version = version + 1 WHERE key = ?1', key)
    : statement(
        'UPDATE quiver_indexes SET version = CASE version WHEN ?2 THEN version + 1 END WHERE key = ?1',
        key,
        read,
      );
}

export async function readVersionNumber(database: LibSQLDatabase, { key }: LibSQLIndex): Promise<number> {
  const [row] = await database.query('SELECT version FROM quiver_indexes WHERE key = ?1', [key]);
  return Number(row?.['version'] ?? 0);
}

/** Derived data as rows of the table `quiver_derived`. */
export function derivedTable(indexes: IndexCache<LibSQLDatabase, LibSQLIndex>): DerivedData {
  return {
    read: ({ name, ...params }) =>
      indexes.use(params, async ({ key }, database) => {
        const sql = `SELECT derived.data FROM quiver_indexes AS existing LEFT JOIN quiver_derived AS derived
          ON derived.index_name = existing.name AND derived.name = ?2 WHERE existing.key = ?1`;
        const [row] = await database.query(sql, [key, name]);
        if (!row) throw indexNotFound(params.indexName, []);
        return row['data'] instanceof ArrayBuffer ? new Uint8Array(row['data']) : undefined;
      }),
    write: ({ name, data, ...params }) =>
      indexes.use(params, async ({ key }, database) => {
        const [row] = await database.query('SELECT 1 FROM quiver_indexes WHERE key = ?1', [key]);
        if (!row) throw indexNotFound(params.indexName, []);
        const sql = `INSERT INTO quiver_derived SELECT name, ?2, ?3 FROM quiver_indexes WHERE key = ?1
          ON CONFLICT (index_name, name) DO UPDATE SET data = excluded.data`;
        await database.write([statement(sql, key, name, Uint8Array.from(data))]);
        return true;
      }),
    // The table exists since the first index was created.
    prepare: async () => {},
  };
}

/** Empties the derived data of an index, which may contain parts of deleted records, if the previous statement changed something. */
export function emptyDerived({ name }: LibSQLIndex): LibSQLStatement {
  return statement(`UPDATE quiver_derived SET data = x'' WHERE index_name = ?1 AND changes() > 0`, name);
}
