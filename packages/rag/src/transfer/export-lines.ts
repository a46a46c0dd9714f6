import { QuiverError } from '@quiver/core';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import { toFilter } from '../store/check-arguments.js';
import type { VectorFilter, VectorMetadata, VectorMetric } from '../store/vector-store.js';

/** The first line of an exported index. */
export interface ExportHeader {
  readonly format: 'quiver-index';
  readonly version: 1;
  readonly indexName: string;
  /** A hash of the filter; absent when everything was exported. */
  readonly filter?: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
  /** Records there were when the export began. */
  readonly count: number;
}

/** A line of an exported index: one record, the cursor after each page, or the number of records at the end. */
export type ExportLine =
  | { readonly id: string; readonly vector: number[]; readonly metadata: VectorMetadata; readonly document?: string }
  | { readonly cursor: string }
  | { readonly end: number };

/** Describes the exported index and filter. @throws `FILTER_INVALID` */
export function toExportScope(indexName: string, filter: VectorFilter): Pick<ExportHeader, 'indexName' | 'filter'> {
  const parsed = toFilter(filter);
  return { indexName, ...(parsed && { filter: contentHash(canonicalJson(parsed)) }) };
}

/** Whether a line is the header of an export of the same index and filter. */
export function isHeaderOf(line: string, scope: Pick<ExportHeader, 'indexName' | 'filter'>): boolean {
  try {
    const { indexName, filter } = parseHeader(line);
    return indexName === scope.indexName && filter === scope.filter;
  } catch {
    return false;
  }
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
export function parseLine(line: string, number: number): ExportLine {
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
  return { id, vector: vector as number[], metadata, ...(document !== undefined && { document }) };
}

export function invalidExport(number: number, problem: string): QuiverError {
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
