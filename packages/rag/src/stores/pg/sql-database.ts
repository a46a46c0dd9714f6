/** A row as the drivers give it: `jsonb` is parsed, everything else is cast to text, integer or double in the statement. */
export type SqlRow = Record<string, unknown>;

/** Runs one statement with parameters, or several without. */
export type SqlQuery = (sql: string, values?: readonly unknown[]) => Promise<SqlRow[]>;

export interface TransactionOptions {
  /** `SET LOCAL` statements, sent together with the begin. */
  readonly settings?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** What the store needs of a database, whichever driver is behind it. */
export interface SqlDatabase {
  /** @param signal - cancels the statement where the driver can, and rejects with its reason */
  query(sql: string, values?: readonly unknown[], signal?: AbortSignal): Promise<SqlRow[]>;
  /** Commits when `work` is done, rolls back when it throws or is aborted. */
  transaction<Result>(work: (query: SqlQuery) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  /** The value of a parameter of the type `vector`. */
  toVectorValue(vector: Float32Array): unknown;
  /** The value of a parameter of the type `vector[]`. @param elementType - OID of `vector` */
  toVectorsValue(vectors: readonly Float32Array[], elementType: number): unknown;
  /** Ends what was made for the store, and nothing else. */
  close(): Promise<void>;
}
