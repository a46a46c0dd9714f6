import { isQuiverError, type QuiverError } from '@quiver/core';
import { invalidArgument, type CheckedRecord } from '../../store/check-arguments.js';
import { recordText } from '../../store/record-text.js';
import type { PgLanguage } from './pg-index.js';
import { toRecord } from './pg-rows.js';
import type { SqlQuery } from './sql-database.js';
import { languageConstant } from './text-search.js';

/** @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html) */
const programLimitExceeded = '54000';
/** Shorter texts do not reach the limit of the words of a row, 1 MB. */
const shortText = 100_000;
/** They are read at once. */
const mostLongTexts = 20;
/** An entry of a B-tree takes a third of a page; what is left of it for an id that cannot be compressed. */
const longestId = 2690;

export function isLimit(error: unknown): boolean {
  return isQuiverError(error) && error.details?.['sqlState'] === programLimitExceeded;
}

/** What was to be stored, and in which language its words were to be counted. */
export interface LimitedRecords {
  readonly language?: PgLanguage;
  readonly records: readonly Pick<CheckedRecord, 'id' | 'metadata' | 'document'>[];
}

/** The records of a table whose texts may be too long. */
export async function readLongTexts(query: SqlQuery, table: string): Promise<LimitedRecords['records']> {
  const length = `pg_catalog.octet_length(COALESCE(document, '')) + pg_catalog.octet_length(metadata::text)`;
  const rows = await query(
    `SELECT id, metadata, document FROM ${table} WHERE ${length} > ${shortText} ORDER BY ${length} DESC LIMIT ${mostLongTexts}`,
  );
  return rows.map(toRecord);
}

/**
 * Which record PostgreSQL refused for its size: its own message does not name it. The server is asked text by text, longest first.
 *
 * @returns `VECTOR_ARGUMENT_INVALID`, or `undefined` when it was something else
 */
export async function explainLimit(
  query: SqlQuery,
  { language, records }: LimitedRecords,
): Promise<QuiverError | undefined> {
  const tooLong = records.find(({ id }) => Buffer.byteLength(id) > longestId);
  if (tooLong) {
    return invalidArgument(
      `The id '${tooLong.id.slice(0, 40)}…' takes ${Buffer.byteLength(tooLong.id)} bytes; PostgreSQL can look up ${longestId}. Use a hash of it as id.`,
    );
  }
  if (!language) return undefined;
  const texts = records
    .map((record) => ({ id: record.id, text: recordText(record) }))
    .filter(({ text }) => text.length > shortText)
    .toSorted((a, b) => b.text.length - a.text.length);
  for (const { id, text } of texts) {
    try {
      await query(`SELECT pg_catalog.length(pg_catalog.to_tsvector(${languageConstant(language)}, $1::text))`, [text]);
    } catch (error) {
      if ((error as { code?: unknown }).code !== programLimitExceeded) throw error;
      return invalidArgument(
        `The text of '${id}' (${text.length} characters) has more different words than PostgreSQL's text search takes in one row, 1 MB. Nothing was changed. Divide it into chunks, or keep the index without text search (textSearch: false).`,
        { id },
      );
    }
  }
  return undefined;
}
