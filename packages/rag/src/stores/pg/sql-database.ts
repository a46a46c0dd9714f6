/** A row as the drivers give it: `jsonb` is parsed, everything else is cast to text, integer or double in the statement. */
export type SqlRow = Record<string, unknown>;

/** Runs one statement with parameters, or several without. */
export type SqlQuery = (sql: string, values?: readonly unknown[]) => Promise<SqlRow[]>;

/** What the store needs of a database, whichever driver is behind it. */
export interface SqlDatabase {
  query: SqlQuery;
  /**
   * Commits when `work` is done, rolls back when it throws.
   *
   * @param settings - `SET LOCAL` statements, sent together with the begin
   */
  transaction<Result>(work: (query: SqlQuery) => Promise<Result>, settings?: readonly string[]): Promise<Result>;
  /** Ends what was made for the store, and nothing else. */
  close(): Promise<void>;
}
