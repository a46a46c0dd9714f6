import { QuiverError } from '@quiver/core';
import {
  abortableItems,
  anyValue,
  checkOptions,
  functionValue,
  oneOf,
  type OptionChecks,
  requireItems,
  signalValue,
  stringValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { storeValue, vectorMetrics } from '../store/options.js';
import type { VectorMetric, VectorRecord, VectorStore } from '../store/vector-store.js';
import type { ExportHeader, ExportLine, TransferProgress } from './export-index.js';

/** Options of `importIndex()`. */
export interface ImportIndexOptions {
  /** Output of `exportIndex`, from the start. */
  lines: Iterable<string> | AsyncIterable<string>;
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Created with the exported dimension when it does not exist. */
  indexName: string;
  /** When the index is created. Default: the exported one. */
  metric?: VectorMetric;
  /** Records that are stored at once. Default 500. */
  batchSize?: number;
  /** Records at the start that are there already: `records` of the last progress. Default 0. */
  skip?: number;
  /** Called when a batch is stored. */
  onProgress?: (progress: TransferProgress) => void;
  /** Stops at once, also while `lines` are waited for. */
  signal?: AbortSignal | undefined;
}

/** Checks of the options that imports have, from lines and from a file. */
export const importChecks: OptionChecks<Omit<ImportIndexOptions, 'lines'>> = {
  vectorStore: storeValue,
  indexName: stringValue,
  metric: oneOf(...vectorMetrics),
  batchSize: wholeNumber(1),
  skip: wholeNumber(0),
  onProgress: functionValue,
  signal: signalValue,
};

const checks: OptionChecks<ImportIndexOptions> = { ...importChecks, lines: anyValue };

/**
 * Stores an exported index. Records keep their ids, so a run after one that was interrupted replaces what is there by the same; with
 * `skip` it resumes where the previous one stopped. Only one batch is held in memory.
 *
 * @returns the number of records of the export
 * @throws `VECTOR_EXPORT_INVALID` with the number of the line, also for an export that ends too early; `OPTIONS_INVALID`
 *   for an unknown or invalid option, or a `skip` beyond the export; what `createIndex` and `upsert` of the store throw
 * @example
 * await importIndex({ lines: exportIndex({ vectorStore: local, indexName: 'guides' }), vectorStore: pg, indexName: 'guides' });
 */
export async function importIndex(options: ImportIndexOptions): Promise<number> {
  checkOptions('importIndex', options, checks);
  requireItems('importIndex', 'lines', options.lines);
  const { lines, vectorStore: store, indexName, metric, batchSize = 500, skip = 0, onProgress, signal } = options;
  const common = { indexName, signal };
  let line = 0;
  let total = 0;
  let records = 0;
  let isWhole = false;
  let batch: VectorRecord[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    await store.upsert({
      ...common,
      ids: batch.map(({ id }) => id),
      vectors: batch.map(({ vector = [] }) => vector),
      metadata: batch.map(({ metadata }) => metadata),
      documents: batch.map(({ document }) => document),
    });
    batch = [];
    onProgress?.({ records, total });
  };
  for await (const text of abortableItems(lines, signal)) {
    line += 1;
    if (isWhole) throw invalidExport(line, 'comes after the end');
    if (line === 1) {
      const { dimension, metric: exported, count } = parseHeader(text);
      total = count;
      await store.createIndex({ ...common, dimension, metric: metric ?? exported });
      continue;
    }
    const parsed = parseLine(text, line);
    if ('cursor' in parsed) continue;
    if ('end' in parsed) {
      if (parsed.end !== records) throw invalidExport(line, `says ${parsed.end} records, but there were ${records}`);
      isWhole = true;
      continue;
    }
    records += 1;
    if (records <= skip) continue;
    batch.push(parsed);
    if (batch.length >= batchSize) await flush();
  }
  await flush();
  if (!isWhole) throw invalidExport(line + 1, 'is missing: the export was cut off. What it holds is stored');
  if (skip > records)
    throw invalidOptions(`skip is ${skip}, but the export holds ${records} records. Is it that of another index?`);
  return records;
}

/** @throws `VECTOR_EXPORT_INVALID` for anything that is not the first line of an export that this version can read */
export function parseHeader(line: string): ExportHeader {
  const header = parseObject(line, 1);
  if (header['format'] !== 'quiver-index' || header['version'] !== 1) {
    throw invalidExport(
      1,
      'does not begin an exported index of version 1. To continue in the middle of a file, pass it from the start and use skip',
    );
  }
  return header as unknown as ExportHeader;
}

/** @throws `VECTOR_EXPORT_INVALID` with the number of the line */
function parseLine(line: string, number: number): ExportLine {
  const value = parseObject(line, number);
  const { id, vector, metadata, document, cursor, end } = value;
  if (typeof cursor === 'string') return { cursor };
  if (typeof end === 'number') return { end };
  const isRecord =
    typeof id === 'string' &&
    Array.isArray(vector) &&
    isObject(metadata) &&
    (document === undefined || typeof document === 'string');
  if (!isRecord) throw invalidExport(number, 'is not a record with id, vector and metadata');
  return value as ExportLine;
}

function invalidExport(number: number, problem: string): QuiverError {
  return new QuiverError('VECTOR_EXPORT_INVALID', `Line ${number} ${problem}.`, { details: { line: number } });
}

function parseObject(line: string, number: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalidExport(number, 'is not JSON; was the file cut off?');
  }
  if (!isObject(value)) throw invalidExport(number, 'is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
