import { isQuiverError, type QuiverError } from '@quiver/core';
import { invalidArgument, type CheckedRecord } from '../../store/check-arguments.js';
import { recordText } from '../../store/record-text.js';
import type { PgIndex } from './pg-index.js';
import type { SqlQuery } from './sql-database.js';
import { languageConstant } from './text-search.js';

/** @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html) */
const programLimitExceeded = '54000';
/** Shorter texts do not reach the limit of the words of a row, 1 MB. */
const shortText = 100_000;
/** An entry of a B-tree takes a third of a page; what is left of it for an id that cannot be compressed. */
const longestId = 2690;

export function isLimit(error: unknown): boolean {
  return isQuiverError(error) && error.details?.['sqlState'] === programLimitExceeded;
}

/**
 * Which record PostgreSQL refused for its size: its own message does not name it. The server is asked text by text, longest first.
 *
 * @returns `VECTOR_ARGUMENT_INVALID`, or `undefined` when it was something else
 */
export async function explainLimit(
  query: SqlQuery,
  { language }: PgIndex,
  records: readonly Pick<CheckedRecord, 'id' | 'metadata' | 'document'>[],
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
        `The text of '${id}' (${text.length} characters) has more different words than PostgreSQL's text search takes in one row, 1 MB. Nothing was stored. Divide it into chunks, or create the index with textSearch: false.`,
        { id },
      );
    }
  }
  return undefined;
}
