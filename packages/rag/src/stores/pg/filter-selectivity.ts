import { canonicalJson } from '../../document/content-hash.js';
import type { Filter } from '../../filter/index.js';
import { SqlParameters } from '../sql-filter.js';
import type { SqlQuery } from './database.js';
import { filterToSql } from './filter-to-sql.js';

/** Returns whether so few rows match a filter that comparing all of them is faster than a search through an HNSW index. */
export type FilterSelectivity = (search: {
  readonly query: SqlQuery;
  readonly index: { readonly table: string; readonly oid: number };
  readonly filter: Filter;
  /** Matching rows wanted. */
  readonly wanted: number;
}) => Promise<boolean>;

/** In a larger table the sample is too small, and comparing all rows takes too long when it is wrong. */
const maxRows = 100_000;
const sampledRows = 1000;
/** A row that is reached through the index takes as long as some 30 others; at half of that, the sample may be wrong. */
const rowsPerVisit = 15;
const maxSampleAge = 60_000;
const maxSamples = 1000;

/**
 * PostgreSQL does not know how many rows have a value in their metadata, unless the field has an index. So a sample of the table's
 * pages is read, always the same ones, and cached for a minute.
 *
 * @param now - a monotonic clock, in milliseconds
 */
export function filterSelectivity(now: () => number): FilterSelectivity {
  const samples = new Map<string, Sample & { readonly at: number }>();
  return async ({ query, index, filter, wanted }) => {
    const key = canonicalJson([index.oid, filter]);
    let sample = samples.get(key);
    if (!sample || now() - sample.at > maxSampleAge) {
      sample = { at: now(), ...(await readSample(query, index.table, filter)) };
      samples.delete(key);
      samples.set(key, sample);
      const [oldest] = samples.keys();
      if (samples.size > maxSamples && oldest !== undefined) samples.delete(oldest);
    }
    return wanted * rowsPerVisit * sample.sampled > sample.rows * sample.passed;
  };
}

interface Sample {
  readonly rows: number;
  /** 0 if unknown. */
  readonly sampled: number;
  readonly passed: number;
}

async function readSample(query: SqlQuery, table: string, filter: Filter): Promise<Sample> {
  const parameters = new SqlParameters();
  const { sql: where } = filterToSql(filter, parameters);
  // Before the first ANALYZE the number of rows is not known: -1, or 0.
  const [row] = await query(
    `SELECT c.reltuples::float8 AS rows, CASE WHEN c.reltuples BETWEEN 1 AND ${maxRows} THEN (
       SELECT pg_catalog.jsonb_build_array(count(*), count(*) FILTER (WHERE ${where}))
       FROM ${table} TABLESAMPLE SYSTEM (LEAST(100, ${100 * sampledRows} / c.reltuples)) REPEATABLE (0)
     ) END AS counts FROM pg_catalog.pg_class c WHERE c.oid = '${table}'::pg_catalog.regclass`,
    parameters.values,
  );
  const [sampled = 0, passed = 0] = (row?.['counts'] ?? []) as number[];
  return { rows: row?.['rows'] as number, sampled, passed };
}
