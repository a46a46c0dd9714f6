import {
  anyValue,
  checkOptions,
  functionValue,
  objectOf,
  type OptionChecks,
  signalValue,
  stringValue,
  wholeNumber,
} from '@quiver/core/internal';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import { toFilter } from '../filter/index.js';
import { storeValue } from '../store/options.js';
import type { VectorFilter, VectorMetadata, VectorMetric, VectorStore } from '../store/vector-store.js';

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

/** Position at which an interrupted export resumes. */
export interface ExportPosition {
  /** Cursor of the last line that has one. */
  readonly cursor: string;
  /** Records before it. */
  readonly records: number;
}

/** Progress of an export or an import. */
export interface TransferProgress {
  /** Records so far. */
  records: number;
  /** Records that the index held when the export began. */
  total: number;
}

/** Options of `exportIndex()`. */
export interface ExportIndexOptions {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Index to export. */
  indexName: string;
  /** Leaves out the header and what comes before. */
  from?: ExportPosition;
  /** Only records that pass. */
  filter?: VectorFilter;
  /** Records that are read at once. Default 500. */
  pageSize?: number;
  /** Called after each page. */
  onProgress?: (progress: TransferProgress) => void;
  /** Aborts the export. */
  signal?: AbortSignal | undefined;
}

/** Checks of the options that exports have, into lines and into a file. */
export const exportChecks: OptionChecks<Omit<ExportIndexOptions, 'from'>> = {
  vectorStore: storeValue,
  indexName: stringValue,
  filter: anyValue,
  pageSize: wholeNumber(1),
  onProgress: functionValue,
  signal: signalValue,
};

const checks: OptionChecks<ExportIndexOptions> = {
  ...exportChecks,
  from: objectOf<ExportPosition>({ cursor: stringValue, records: wholeNumber(0) }),
};

/**
 * An index as JSON Lines, without line ends: a header, the records with their vectors in the order of `listVectors`, after each page a cursor
 * from which a later export can resume, and at the end the number of records. Only one page is held in memory.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option; what `describeIndex` and `listVectors` of the store throw
 * @example
 * for await (const line of exportIndex({ vectorStore, indexName: 'guides' })) file.write(`${line}\n`);
 */
export async function* exportIndex(options: ExportIndexOptions): AsyncGenerator<string, void> {
  checkOptions('exportIndex', options, checks);
  const { vectorStore: store, indexName, filter, pageSize = 500, from, onProgress, signal } = options;
  const common = { indexName, signal };
  const { dimension, metric, count } = await store.describeIndex(common);
  const scope = toExportScope(indexName, filter);
  const header: ExportHeader = { format: 'quiver-index', version: 1, ...scope, dimension, metric, count };
  if (!from) yield JSON.stringify(header);
  let cursor = from?.cursor;
  let records = from?.records ?? 0;
  do {
    const page = await store.listVectors({
      ...common,
      limit: pageSize,
      includeVector: true,
      filter,
      cursor,
    });
    for (const { id, vector = [], metadata, document } of page.records) {
      yield toLine({ id, vector, metadata, ...(document !== undefined && { document }) });
    }
    records += page.records.length;
    cursor = page.nextCursor;
    if (cursor !== undefined) yield toLine({ cursor });
    onProgress?.({ records, total: count });
  } while (cursor !== undefined);
  yield toLine({ end: records });
}

/** The exported index and filter. */
export type ExportScope = Pick<ExportHeader, 'indexName' | 'filter'>;

/** @throws `FILTER_INVALID` */
export function toExportScope(indexName: string, filter: VectorFilter): ExportScope {
  const parsed = toFilter(filter);
  return { indexName, ...(parsed && { filter: contentHash(canonicalJson(parsed)) }) };
}

function toLine(line: ExportLine): string {
  return JSON.stringify(line);
}
