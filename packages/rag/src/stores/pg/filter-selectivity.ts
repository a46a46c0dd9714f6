import { canonicalJson } from '../../document/content-hash.js';
import type { Filter } from '../../filter/index.js';
import type { SqlQuery } from './database.js';
import { filterToSql, SqlParameters } from './filter-to-sql.js';
import type { OpenIndex } from './pg-index.js';

export interface SelectivityQuery {
  readonly query: SqlQuery;
  readonly index: Pick<OpenIndex, 'table' | 'oid'>;
  readonly filter: Filter;
  /** Rows wanted that pass. */
  readonly wanted: number;
}

/** Tells where so few rows pass a filter that comparing all of those is quicker than to search through an HNSW index for them. */
export interface FilterSelectivity {
  passesFew(question: SelectivityQuery): Promise<boolean>;
}

/** In a larger table the sample says too little, and to compare all rows takes too long where it is wrong. */
const mostRows = 100_000;
const sampledRows = 1000;
/** A row that is reached through the index takes as long as some 30 others; at half of that, the sample may well be wrong. */
const rowsPerVisit = 15;
const longestAge = 60_000;
const mostKept = 1000;

/**
 * The database itself does not know how many rows have a value in their metadata, unless the field has an index. So a sample of the
 * table's pages is looked at, always the same ones, and remembered for a minute.
 *
 * @param now - a clock that never goes back, in milliseconds
 */
export function filterSelectivity(now: () => number): FilterSelectivity {
  const kept = new Map<string, Sample & { readonly at: number }>();
  return {
    async passesFew({ query, index, filter, wanted }) {
      const key = canonicalJson([index.oid, filter]);
      let sample = kept.get(key);
      if (!sample || now() - sample.at > longestAge) {
        const at = now();
        sample = { at, ...(await readSample(query, index.table, filter)) };
        kept.delete(key);
        kept.set(key, sample);
        const [oldest] = kept.keys();
        if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      }
      const { rows, sampled, passed } = sample;
      return wanted * rowsPerVisit * sampled > rows * passed;
    },
  };
}

interface Sample {
  readonly rows: number;
  /** 0 where nothing is known. */
  readonly sampled: number;
  readonly passed: number;
}

async function readSample(query: SqlQuery, table: string, filter: Filter): Promise<Sample> {
  const parameters = new SqlParameters();
  const { sql: where } = filterToSql(filter, parameters);
  // Before the first ANALYZE the number of rows is not known: -1, or 0.
  const [row] = await query(
    `SELECT c.reltuples::float8 AS rows, CASE WHEN c.reltuples BETWEEN 1 AND ${mostRows} THEN (
       SELECT pg_catalog.jsonb_build_array(count(*), count(*) FILTER (WHERE ${where}))
       FROM ${table} TABLESAMPLE SYSTEM (LEAST(100, ${100 * sampledRows} / c.reltuples)) REPEATABLE (0)
     ) END AS counts FROM pg_catalog.pg_class c WHERE c.oid = '${table}'::pg_catalog.regclass`,
    parameters.values,
  );
  const [sampled = 0, passed = 0] = (row?.['counts'] ?? []) as number[];
  return { rows: row?.['rows'] as number, sampled, passed };
}
