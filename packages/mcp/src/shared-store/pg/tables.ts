import { invalidOptions } from '@quiver/core/internal';

/** Names of the tables of a store, quoted. */
export interface Tables {
  readonly schema: string;
  readonly records: string;
  readonly logs: string;
  readonly entries: string;
  readonly buckets: string;
  readonly messages: string;
  /** Channel of LISTEN and NOTIFY, and name of the advisory locks, unquoted. PostgreSQL allows 63 bytes. */
  readonly name: string;
}

/** @throws `OPTIONS_INVALID` unless both are identifiers without quotes, of up to 50 characters together */
export function nameTables(schemaName: string, tablePrefix: string): Tables {
  for (const [option, value] of Object.entries({ schemaName, tablePrefix }))
    if (typeof value !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(value))
      throw invalidOptions(`PostgresStore: \`${option}\` is '${value}', not letters, digits and underscores.`);
  const name = `${schemaName}.${tablePrefix}`;
  if (name.length > 51)
    throw invalidOptions('PostgresStore: `schemaName` and `tablePrefix` have more than 50 characters together.');
  const table = (suffix: string): string => `"${schemaName}"."${tablePrefix}${suffix}"`;
  return {
    schema: `"${schemaName}"`,
    records: table('records'),
    logs: table('logs'),
    entries: table('entries'),
    buckets: table('buckets'),
    messages: table('messages'),
    name,
  };
}

/**
 * Statements that create the tables, to run as one transaction. The lock makes concurrent creation safe, for which `IF NOT EXISTS` is
 * not enough; reading a catalog then shows what the earlier owner of the lock has created. Tables of buckets and messages are unlogged: a crash of the server refills buckets and drops messages, and no write of
 * them waits for the disk.
 *
 * `version` of a record and the ids of entries come from the clock of the server in microseconds, so that they grow after a deletion.
 * Entries of a log outside `first` to `last` do not exist, even where a row is left.
 *
 * @param createsSchema - whether the schema is missing; the right to create one is needed only then
 */
export function createTables(tables: Tables, createsSchema: boolean): string {
  const { schema, records, logs, entries, buckets, messages } = tables;
  const createIndex = (table: string, columns: string): string =>
    `CREATE INDEX IF NOT EXISTS ${table.replace(/^.*\./, '').replace(/"$/, '_index"')} ON ${table} (${columns})`;
  return `
    SELECT pg_advisory_xact_lock(hashtextextended('quiver_mcp', 0));
    SELECT count(*) FROM pg_catalog.pg_namespace;
    ${createsSchema ? `CREATE SCHEMA IF NOT EXISTS ${schema};` : ''}
    CREATE TABLE IF NOT EXISTS ${records} (
      key text COLLATE "C" PRIMARY KEY, value text NOT NULL, version bigint NOT NULL, ends timestamptz NOT NULL);
    ${createIndex(records, 'ends')} WHERE ends < 'infinity';
    CREATE TABLE IF NOT EXISTS ${logs} (
      log text COLLATE "C" PRIMARY KEY, first bigint NOT NULL, last bigint NOT NULL, ends timestamptz NOT NULL);
    ${createIndex(logs, 'ends')} WHERE ends < 'infinity';
    CREATE TABLE IF NOT EXISTS ${entries} (
      log text COLLATE "C", id bigint, value text NOT NULL, PRIMARY KEY (log, id));
    CREATE UNLOGGED TABLE IF NOT EXISTS ${buckets} (
      key text COLLATE "C" PRIMARY KEY, tokens float8 NOT NULL, time timestamptz NOT NULL, wait float8 NOT NULL,
      ends timestamptz NOT NULL);
    ${createIndex(buckets, 'ends')};
    CREATE UNLOGGED TABLE IF NOT EXISTS ${messages} (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, channel text COLLATE "C" NOT NULL, message text NOT NULL,
      created timestamptz NOT NULL DEFAULT clock_timestamp());
    ${createIndex(messages, 'channel, id')};`;
}
