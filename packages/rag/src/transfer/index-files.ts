import { createReadStream } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { checkOptions, type OptionChecks, required, stringValue } from '@quiver/core/internal';
import {
  exportChecks,
  exportIndex,
  toExportScope,
  type ExportIndexOptions,
  type ExportPosition,
  type ExportScope,
} from './export-index.js';
import { importChecks, importIndex, parseHeader, type ImportIndexOptions } from './import-index.js';

/** Options of `exportIndexToFile()`. */
export interface ExportIndexToFileOptions extends Omit<ExportIndexOptions, 'from'> {
  /** Path of the complete export. */
  path: string;
}

const pathValue = required(stringValue, 'the path of the exported index');

const exportToFileChecks: OptionChecks<ExportIndexToFileOptions> = { path: pathValue, ...exportChecks };

interface ImportIndexFromFileOptions extends Omit<ImportIndexOptions, 'lines'> {
  /** Path of a complete export. */
  path: string;
}

const importFromFileChecks: OptionChecks<ImportIndexFromFileOptions> = { path: pathValue, ...importChecks };

/**
 * Writes an index into a file of JSON Lines. Until it is complete it is `<path>.part`; the next call resumes it, if it is of
 * the same index and filter, and starts again otherwise. A call that fails before the first page is written leaves no file.
 *
 * @throws as `exportIndex`, and errors of the file system
 *
 * @example
 * await exportIndexToFile({ vectorStore, indexName: 'guides', path: 'guides.jsonl' });
 */
export async function exportIndexToFile(given: ExportIndexToFileOptions): Promise<void> {
  checkOptions('exportIndexToFile', given, exportToFileChecks);
  const { path, ...options } = given;
  const part = `${path}.part`;
  const scope = toExportScope(options.indexName, options.filter);
  const file = await open(part, 'a+');
  try {
    const from = await findPosition(file, part, scope);
    await file.truncate(from?.bytes ?? 0);
    let lines: string[] = [];
    const flush = async (): Promise<void> => {
      if (lines.length > 0) await file.appendFile(`${lines.join('\n')}\n`);
      lines = [];
    };
    const resumed = from && { from: { cursor: from.cursor, records: from.records } };
    for await (const line of exportIndex({ ...options, ...resumed })) {
      lines.push(line);
      if (lines.length >= linesPerWrite) await flush();
    }
    await flush();
    await file.sync();
  } catch (error) {
    // Without a cursor there is nothing to resume.
    if (!(await findPosition(file, part, scope))) await rm(part);
    throw error;
  } finally {
    await file.close();
  }
  await rename(part, path);
}

/**
 * Stores the index of a file that `exportIndexToFile` wrote.
 *
 * @returns the number of its records
 * @throws as `importIndex`; `VECTOR_EXPORT_INVALID` for a file that cannot be read
 *
 * @example
 * const records = await importIndexFromFile({ vectorStore, indexName: 'guides', path: 'guides.jsonl' });
 */
export async function importIndexFromFile(given: ImportIndexFromFileOptions): Promise<number> {
  checkOptions('importIndexFromFile', given, importFromFileChecks);
  const { path, ...options } = given;
  return importIndex({ ...options, lines: readLines(path) });
}

const linesPerWrite = 100;

/** Behind the last cursor that was written as a whole. */
async function findPosition(
  file: FileHandle,
  path: string,
  scope: ExportScope,
): Promise<(ExportPosition & { readonly bytes: number }) | undefined> {
  const { size } = await file.stat();
  let position: (ExportPosition & { bytes: number }) | undefined;
  let bytes = 0;
  let records = -1; // the header
  for await (const line of readLines(path)) {
    bytes += Buffer.byteLength(line) + 1;
    // Without its line end it may be cut off.
    if (bytes > size || (records === -1 && !isHeaderOf(line, scope))) break;
    if (line.startsWith('{"cursor":')) {
      const { cursor } = JSON.parse(line) as { cursor: string };
      position = { cursor, records, bytes };
    } else records += 1;
  }
  return position;
}

function isHeaderOf(line: string, scope: ExportScope): boolean {
  try {
    const { indexName, filter } = parseHeader(line);
    return indexName === scope.indexName && filter === scope.filter;
  } catch {
    return false;
  }
}

/**
 * The lines of a file in UTF-8, without their ends. Only a line feed ends a line: JSON may hold the other characters that `node:readline`
 * treats as one.
 *
 * @throws `VECTOR_EXPORT_INVALID` for a file that cannot be read
 */
async function* readLines(path: string): AsyncGenerator<string, void> {
  let rest = '';
  try {
    for await (const text of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
      const lines = (rest + String(text)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw new QuiverError(
      'VECTOR_EXPORT_INVALID',
      `The exported index ${path} cannot be read: ${toErrorMessage(error)}. Check the path.`,
      { cause: error },
    );
  }
  if (rest !== '') yield rest;
}
