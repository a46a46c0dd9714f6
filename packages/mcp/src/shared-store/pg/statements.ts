import type { Tables } from './tables.js';

/** Statements of a store. Numbers are returned as text, which parsers that an application sets in `pg` do not change. */
export type Statements = Readonly<
  Record<'get' | 'write' | 'rewrite' | 'delete' | 'keys' | 'append' | 'read' | 'publish' | 'receive', string> &
    Record<'take' | 'sweep', string>
>;

/** Time for which messages are stored for listeners whose connection is interrupted. */
const messageLifetime = '2 minutes';

/** End of a lifetime, from the parameter of milliseconds. */
function endOf(parameter: string): string {
  return `coalesce(clock_timestamp() + ${parameter}::float8 * interval '1 millisecond', 'infinity')`;
}

/** Microseconds since 1970. */
function microseconds(time: string): string {
  return `(extract(epoch FROM ${time}) * 1000000)::bigint`;
}

export function writeStatements({ records, logs, entries, buckets, messages, name }: Tables): Statements {
  const newVersion = `greatest(r.version + 1, ${microseconds('clock_timestamp()')})`;
  return {
    get: `SELECT value, version::text FROM ${records} WHERE key = $1 AND ends > clock_timestamp()`,
    // $4 is whether to write only when there is no record.
    write: `
      INSERT INTO ${records} AS r (key, value, version, ends)
      VALUES ($1, $2, ${microseconds('clock_timestamp()')}, ${endOf('$3')})
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = ${newVersion}, ends = ${endOf('$3')}
      WHERE NOT $4::boolean OR r.ends <= clock_timestamp()
      RETURNING version::text`,
    rewrite: `
      UPDATE ${records} AS r SET value = $2, version = ${newVersion}, ends = ${endOf('$3')}
      WHERE key = $1 AND version = $4::bigint AND ends > clock_timestamp()
      RETURNING version::text`,
    delete: `
      DELETE FROM ${records}
      WHERE key = $1 AND ends > clock_timestamp() AND ($2::bigint IS NULL OR version = $2::bigint) RETURNING 1`,
    keys: `SELECT key FROM ${records} WHERE key >= $1 AND starts_with(key, $1) AND ends > clock_timestamp()`,
    // The row of the log is locked first: ids are in the order of the commits. A join with `head` would read the whole table.
    append: `
      WITH head AS (
        INSERT INTO ${logs} AS l (log, first, last, ends)
        SELECT $1, t, t, ${endOf('$3')} FROM (SELECT ${microseconds('clock_timestamp()')} AS t) AS clock
        ON CONFLICT (log) DO UPDATE SET (first, last, ends) = (
          SELECT CASE WHEN is_alive THEN greatest(l.first, next - $4::bigint + 1) ELSE next END, next, ${endOf('$3')}
          FROM (
            SELECT l.ends > t AS is_alive,
              CASE WHEN l.ends > t THEN l.last + 1 ELSE greatest(l.last + 1, ${microseconds('t')}) END AS next
            FROM (SELECT clock_timestamp() AS t) AS clock
          ) AS state)
        RETURNING log, first, last),
      added AS (INSERT INTO ${entries} (log, id, value) SELECT log, last, $2 FROM head),
      removed AS (DELETE FROM ${entries} WHERE log = $1 AND id < (SELECT first FROM head))
      SELECT last::text FROM head`,
    read: `
      SELECT e.id::text, e.value
      FROM ${logs} AS l JOIN ${entries} AS e ON e.log = l.log AND e.id >= greatest(l.first, $2::bigint)
      WHERE l.log = $1 AND l.ends > clock_timestamp() ORDER BY e.id`,
    // NOTIFY makes transactions commit one after the other; the lock makes ids follow the same order.
    publish: `
      WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended('${name}', 1))),
      sent AS (
        INSERT INTO ${messages} (channel, message)
        SELECT m.channel, m.message
        FROM turn, unnest($1::text[], $2::text[]) WITH ORDINALITY AS m (channel, message, place) ORDER BY place
        RETURNING id, channel)
      SELECT pg_notify('${name}', id || ' ' || channel) FROM (SELECT id, channel FROM sent ORDER BY id) AS ordered`,
    // Always a row, with the newest id. Ids begin again after a crash of the server, which empties the table.
    receive: `
      SELECT top.id::text AS top, m.id::text, m.channel, m.message
      FROM (SELECT coalesce(max(id), 0) AS id FROM ${messages}) AS top
      LEFT JOIN ${messages} AS m
        ON m.channel = ANY ($2::text[]) AND m.id > CASE WHEN top.id < $1::bigint THEN 0 ELSE $1::bigint END
      ORDER BY m.id LIMIT $3::int`,
    // After the clock of the server was set back, the bucket is refilled from its new time.
    take: `
      INSERT INTO ${buckets} AS b (key, tokens, time, wait, ends)
      VALUES ($1, $3::float8 - $2::float8, clock_timestamp(), 0,
        clock_timestamp() + least($2::float8 / $4::float8, 1e9) * interval '1 second')
      ON CONFLICT (key) DO UPDATE SET (tokens, time, wait, ends) = (
        SELECT rest, t, CASE WHEN tokens >= $2 THEN 0 ELSE greatest(1, ceil(($2 - tokens) * 1000 / $4)) END,
          t + least(($3 - rest) / $4, 1e9) * interval '1 second'
        FROM (
          SELECT t, tokens, CASE WHEN tokens >= $2 THEN tokens - $2 ELSE tokens END AS rest
          FROM (
            SELECT t, least($3, b.tokens + greatest(0, extract(epoch FROM t - b.time)) * $4) AS tokens
            FROM (SELECT clock_timestamp() AS t) AS clock
          ) AS refilled
        ) AS taken)
      RETURNING wait::text`,
    // One instance at a time, because two that delete the same rows could wait for each other.
    sweep: `
      WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtextextended('${name}', 2)) AS is_mine),
      ended_records AS (DELETE FROM ${records} WHERE ends <= now() AND (SELECT is_mine FROM turn)),
      ended_buckets AS (DELETE FROM ${buckets} WHERE ends <= now() AND (SELECT is_mine FROM turn)),
      ended_logs AS (DELETE FROM ${logs} WHERE ends <= now() AND (SELECT is_mine FROM turn) RETURNING log),
      ended_entries AS (DELETE FROM ${entries} AS e USING ended_logs AS l WHERE e.log = l.log)
      DELETE FROM ${messages} WHERE created < now() - interval '${messageLifetime}' AND (SELECT is_mine FROM turn)`,
  };
}
