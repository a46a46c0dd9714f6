import { invalidOptions } from '@quiver/core/internal';
import { rejectBeside } from '../../store/options.js';
import { clientMissing } from '../store-call.js';

/** The part of a query of LanceDB that is called. */
export interface LanceQuery {
  select(columns: string[]): this;
  where(condition: string): this;
  limit(limit: number): this;
  orderBy(order: { columnName: string; ascending: boolean }): this;
  toArray(): Promise<unknown[]>;
}

/** The part of a query without a vector that is called. */
export interface LancePlainQuery extends LanceQuery {
  // oxlint-disable-next-line typescript/no-explicit-any -- a text or one of the classes of queries in the client
  fullTextSearch(query: any): this;
  nearestTo(vector: Float32Array): LanceVectorQuery;
}

/** The part of a vector query of LanceDB that is called. */
export interface LanceVectorQuery extends LanceQuery {
  distanceType(type: 'cosine' | 'l2' | 'dot'): this;
  bypassVectorIndex(): this;
}

/** The part of a table of LanceDB that is called. */
export interface LanceTable {
  schema(): Promise<{ metadata: Map<string, string>; fields: { metadata: Map<string, string> }[] }>;
  query(): LancePlainQuery;
  // oxlint-disable-next-line typescript/no-explicit-any -- the builder of the client, called in one chain
  mergeInsert(on: string): any;
  delete(condition: string): Promise<{ numDeletedRows?: number } | undefined>;
  countRows(): Promise<number>;
  version(): Promise<number>;
  createIndex(column: string, options: object): Promise<void>;
  setUnenforcedPrimaryKey(column: string): Promise<unknown>;
  indexStats(name: string): Promise<{ numUnindexedRows: number } | undefined>;
  optimize(): Promise<unknown>;
}

/** The part of a connection of LanceDB that is called. */
export interface LanceConnection {
  openTable(name: string): Promise<LanceTable>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a schema of Arrow
  createEmptyTable(name: string, schema: any): Promise<LanceTable>;
  dropTable(name: string): Promise<void>;
  tableNames(options?: { startAfter?: string; limit?: number }): Promise<string[]>;
  close(): void;
}

/** Where the tables are: a connection of yours, which stays open, or a folder or address. */
export interface LanceConnectionOptions {
  /** A connection of `@lancedb/lancedb`. It is never closed by the store. */
  connection?: LanceConnection;
  /** A folder, or an address of object storage such as `s3://bucket/path`. */
  uri?: string;
  /** Further options of `connect()` of the client, such as `storageOptions`. */
  connectionOptions?: Readonly<Record<string, unknown>>;
}

/** An open database, and the modules of its client. */
export interface Lance {
  readonly connection: LanceConnection;
  /** Closes a connection that the store opened. */
  close(): void;
  /** The part of `@lancedb/lancedb` that is called. */
  readonly lancedb: {
    connect(uri: string, options: object): Promise<LanceConnection>;
    readonly Index: { fts(options: object): object };
    readonly MatchQuery: new (query: string, column: string) => object;
  };
  /** The module `apache-arrow`. */
  readonly arrow: unknown;
}

async function loadModules(): Promise<Pick<Lance, 'lancedb' | 'arrow'>> {
  const missing = clientMissing('LanceDB', '@lancedb/lancedb apache-arrow@18.1.0');
  const [lancedb, arrow] = await Promise.all([
    import('@lancedb/lancedb').catch(missing),
    import('apache-arrow').catch(missing),
  ]);
  return { lancedb, arrow };
}

/** @throws `OPTIONS_INVALID` unless the options contain exactly one connection */
export function requireConnection({ connection, uri, connectionOptions }: LanceConnectionOptions): void {
  if (connection) rejectBeside('LanceVectorStore', 'connection', { uri, connectionOptions });
  else if (typeof uri !== 'string' || uri === '')
    throw invalidOptions(
      `LanceVectorStore needs a connection or a uri, such as './lance', not ${JSON.stringify(uri)}.`,
    );
}

/** Opens a connection that sees the changes of other processes with every call. @throws `VECTOR_CLIENT_MISSING` */
export async function openLance({ connection, uri = '', connectionOptions }: LanceConnectionOptions): Promise<Lance> {
  const modules = await loadModules();
  if (connection) return { connection, close: () => {}, ...modules };
  const opened = await modules.lancedb.connect(uri, { readConsistencyInterval: 0, ...connectionOptions });
  return { connection: opened, close: () => opened.close(), ...modules };
}
