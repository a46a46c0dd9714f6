import { traceChannels, type IngestTraceEvent } from '@quiver/core';
import {
  abortableItems,
  anyValue,
  unchecked,
  booleanValue,
  checkOptions,
  functionValue,
  oneOf,
  type OptionChecks,
  runAhead,
  signalValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import type { Chunk } from '../document/chunk.js';
import { contextKey } from '../document/metadata-keys.js';
import type { ChunkParams } from '../document/chunking/chunking-strategy.js';
import type { MDocument } from '../document/document.js';
import { canonicalJson } from '../document/content-hash.js';
import { addSkipped, type SkippedCounts } from '../document/skipped-text.js';
import type { ExtractParams } from '../document/extract/extract-options.js';
import type { IngestEstimate } from './dry-run.js';
import type { EmbedderInput } from '../embedding/index.js';
import { modelValue, objectValue, storeValue } from '../store/options.js';
import type { VectorMetric, VectorStore } from '../store/vector-store.js';
import { languagesOfText } from '../words/detect-language.js';
import { english, type Language } from '../words/languages.js';
import { defaultMaxRetries, openTarget, type IngestTarget } from './ingest-target.js';
import { readIfStored, storeChunks, type StoredCounts } from './store-chunks.js';
import { checkChunkVectors, keysOfVectors, toVectors, type ChunkVector, type ChunkVectors } from './chunk-vectors.js';
import { addScope, parseScope, type IngestScope } from '../store/scope.js';
import { removeStale, type Sources } from './delete-documents.js';

/** Number of documents and chunks that `ingest()` processed. */
export interface IngestReport {
  /** Documents that are stored completely. */
  documents: number;
  /** New or changed chunks: embedded and stored. In this number and the next three, each further vector counts as a chunk. */
  added: number;
  /** Chunks that only moved within their document: stored again with their old vector. */
  moved: number;
  unchanged: number;
  /** Chunks of earlier runs that their document no longer contains. */
  removed: number;
  /** Characters of the documents that are not searched, by kind, for example `{ navigation: 2400 }`; absent where there are none. */
  skippedText?: SkippedCounts;
  /** Texts of which the embedder read only the beginning, as its `usage.cut` counts them during the run; absent where there are none. */
  cut?: number;
  /** Requests to models of a run with `dryRun`. */
  estimate?: IngestEstimate;
}

/** The report so far. */
export interface IngestProgress extends IngestReport {
  /** Number of documents; present when `documents` is an array, or knows its `total` as `loadDocuments()` does. */
  totalDocuments?: number;
  /** Part of the documents that is stored, from 0 to 1; present with `totalDocuments`. */
  share?: number;
  /** Time that the rest takes at the speed so far; present with `totalDocuments`, after the first document. */
  secondsLeft?: number;
}

/** Options of `ingest()`. */
export interface IngestOptions {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** An AI SDK embedding model, a model string, or an `Embedder`. */
  model: EmbedderInput;
  /** Documents with `metadata.source`, which identifies a document from one run to the next, within the scope. */
  documents: (Iterable<MDocument> | AsyncIterable<MDocument>) & { readonly total?: number | undefined };
  /** Index to update. A missing index is created. */
  indexName: string;
  /**
   * Owner of the documents in a shared index, as metadata that is written to every chunk, for example `{ tenant: 'b' }`. The run
   * reads, removes and reports chunks of this scope only. All scopes of an index have the same keys.
   *
   * Without it, the run stores and removes chunks without an owner, and the index must hold no others. `'all'`: the run is responsible
   * for the whole index. It stores chunks without an owner, and removes stale ones of every owner: those of the same sources, or, with
   * `cleanup: 'all'`, all others.
   */
  scope?: IngestScope | 'all';
  /**
   * Chunking options. Default: by the type of the document, see `MDocument.chunk`. With `extract`, a model is called for new and
   * changed documents only.
   */
  chunkOptions?: ChunkParams;
  /**
   * Further vectors of each chunk, such as those of `['questions']` that it answers. They are records that name their chunk in
   * `metadata.vectorOf`: query tools return the chunk instead, and they are removed with it. Default: none.
   */
  vectors?: ChunkVectors;
  /** Metric of a new index. Default `cosine`. */
  metric?: VectorMetric;
  /**
   * Chunks of earlier runs to remove. `'source'` (default): chunks that the given documents no longer contain. `'all'`: every
   * other chunk of the scope too, so that it mirrors `documents`. `'none'`: nothing.
   */
  cleanup?: 'source' | 'all' | 'none';
  /** Number of chunks that are compared, embedded and stored together. Default 256. */
  batchSize?: number;
  /** Number of batches in progress. Default 4. */
  concurrency?: number;
  /** Attempts after the first for transient errors of the model or the store. Default 6, after 0.5, 1, 2, 4, 8 and 16 seconds. */
  maxRetries?: number;
  /** Whether to change nothing and call no model: the report says what a run would do, and what it would ask of models. Default `false`. */
  dryRun?: boolean;
  /** Called after each batch, and while chunks are removed. */
  onProgress?: (progress: IngestProgress) => void;
  /** Stops the run at once, including requests to a model and reading `documents`. Stored chunks stay; the next run resumes. */
  signal?: AbortSignal | undefined;
}

/** Scope and vectors have checks with error codes of their own. */
const optionChecks: OptionChecks<IngestOptions> = {
  documents: anyValue,
  vectorStore: storeValue,
  model: modelValue,
  chunkOptions: objectValue,
  ...unchecked<IngestOptions>()('vectors', 'metric'),
  batchSize: wholeNumber(1),
  concurrency: wholeNumber(1),
  maxRetries: wholeNumber(0),
  onProgress: functionValue,
  signal: signalValue,
  ...unchecked<IngestOptions>()('indexName', 'scope'),
  // A misspelled value must not remove anything.
  cleanup: oneOf('source', 'all', 'none'),
  dryRun: booleanValue,
};

/**
 * Updates an index with documents: chunks them, embeds new and changed chunks, and removes stale ones. A second run over the same
 * documents embeds nothing.
 *
 * The text, the document's metadata and the scope identify a chunk. Its vector is made from its headings and text, and reused as long
 * as these are the same. Each stored chunk also has the metadata `embedder`, the id of the embedder. New chunks are stored before
 * stale ones are removed: an aborted or killed run leaves a working index, and the next run resumes.
 *
 * Documents are read on demand. Memory holds `batchSize` × `concurrency` chunks, one document, and about 100 bytes for each
 * chunk of the run.
 *
 * @throws the abort reason; `INGEST_SCOPE_MISSING` without `scope` for an index that holds chunks of scopes;
 *   `INGEST_SCOPE_MISMATCH` for a document of another scope, and for a scope with other keys than those of the index;
 *   `INGEST_EMBEDDER_CHANGED` when the index was made with another embedder; `INGEST_METADATA_RESERVED` for a document with metadata that
 *   `ingest` writes, such as `embedder`;
 *   `EMBEDDING_INVALID` for invalid vectors; `OPTIONS_INVALID` for an unknown or invalid option; errors of
 *   store, embedder and `documents`
 *
 * @example
 * const report = await ingest({ documents: loadDocuments('./docs'), vectorStore, indexName: 'guides', model: 'openai/text-embedding-3-small' });
 * console.log(report); // { documents: 12, added: 80, moved: 0, unchanged: 0, removed: 0 }
 */
export async function ingest(options: IngestOptions): Promise<IngestReport> {
  checkOptions('ingest', options, optionChecks);
  if (!channel.isActive) return runIngest(options);
  const event: IngestTraceEvent = { type: 'ingest', indexName: options.indexName };
  return channel.trace(event, () => runIngest(options));
}

const channel = traceChannels['quiver:ingest'];

async function runIngest(options: IngestOptions): Promise<IngestReport> {
  const { vectorStore: store, model: embedder, documents, indexName, chunkOptions = {}, metric = 'cosine' } = options;
  const { maxRetries = defaultMaxRetries, cleanup = 'source', concurrency = 4, onProgress, signal } = options;
  if (!isIterable(documents))
    throw invalidOptions(
      `documents must be a list or an iterable of documents, such as loadDocuments('./docs') or await loadDocument(file), not ${String(documents)}.`,
    );
  const vectors = checkChunkVectors(options.vectors, chunkOptions.extract);
  const scope = parseScope(options.scope);
  const dry = options.dryRun ? await import('./dry-run.js') : undefined;
  const estimate = dry && { texts: 0, tokens: 0, modelRequests: 0, modelTokens: 0 };
  const target = await openTarget({ store, indexName, maxRetries, signal }, { embedder, scope, metric, estimate });
  const sources: Sources = new Map();
  const run: IngestRun = {
    ...target,
    documents,
    chunkOptions: dry && estimate ? dry.countRequests(chunkOptions, estimate) : chunkOptions,
    vectors,
    batchSize: options.batchSize ?? 256,
    seen: new Set(),
    sources,
    unavailable: new Map(),
  };
  const report: IngestReport = { documents: 0, added: 0, moved: 0, unchanged: 0, removed: 0 };
  const skippedText: SkippedCounts = {};
  const start = performance.now();
  const total = Array.isArray(documents) ? documents.length : documents.total;
  const notify = (): void => onProgress?.({ ...report, ...toProgress(report.documents, total, start) });

  const storeBatch = async (batch: Batch, batchSignal: AbortSignal): Promise<Batch & StoredCounts> => {
    const counts = await storeChunks({ ...run, signal: batchSignal }, batch.chunks);
    return { ...batch, ...counts, unchanged: counts.unchanged + batch.unchanged };
  };
  const cutBefore = run.embedder.usage?.cut ?? 0;
  for await (const counts of runAhead(readBatches(run), concurrency, storeBatch, signal)) {
    for (const key of ['documents', 'added', 'moved', 'unchanged'] as const) report[key] += counts[key];
    addSkipped(skippedText, counts.skippedText);
    if (Object.keys(skippedText).length > 0) report.skippedText = { ...skippedText };
    const cut = (run.embedder.usage?.cut ?? 0) - cutBefore;
    if (cut > 0) report.cut = cut;
    notify();
  }

  if (run.isUpdate && cleanup !== 'none' && (cleanup === 'all' || sources.size > 0)) {
    const { seen: keep, unavailable: keepSources } = run;
    const stale = { keep, keepSources, scope, isDry: estimate !== undefined, ...(cleanup === 'source' && { sources }) };
    for await (const removed of removeStale(run, stale)) {
      report.removed = removed;
      notify();
    }
  }
  return estimate ? { ...report, estimate } : report;
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** A run: its index, its options with their defaults, and the documents that it has read so far. */
interface IngestRun extends IngestTarget, Required<Pick<IngestOptions, 'documents' | 'chunkOptions' | 'batchSize'>> {
  readonly vectors: ChunkVectors | undefined;
  readonly seen: Set<string>;
  readonly sources: Sources;
  readonly unavailable: Sources;
}

function toProgress(stored: number, total: number | undefined, start: number): Partial<IngestProgress> {
  if (total === undefined) return {};
  const secondsLeft = ((performance.now() - start) / 1000) * ((total - stored) / stored);
  const share = total === 0 ? 1 : Math.min(1, stored / total);
  return { totalDocuments: total, share, ...(stored > 0 && { secondsLeft: Math.max(0, secondsLeft) }) };
}

interface Batch {
  /** Chunks and further vectors with distinct ids. */
  chunks: ChunkVector[];
  /** Number of further chunks that are stored already. */
  unchanged: number;
  documents: number;
  skippedText: SkippedCounts;
}

function emptyBatch(): Batch {
  return { chunks: [], unchanged: 0, documents: 0, skippedText: {} };
}

/** Milliseconds. A timer takes one at least, as long as chunking a quarter of a batch. */
const longestTurn = 10;

/** Chunks documents on demand, and yields the chunks in batches. Leaves out chunks with an id that was seen. */
async function* readBatches(run: IngestRun): AsyncGenerator<Batch> {
  const { documents, seen, sources, unavailable, batchSize, signal } = run;
  let batch = emptyBatch();
  let nextPause = 0;
  for await (const document of abortableItems(documents, signal)) {
    if (!Array.isArray(document?.sources))
      throw invalidOptions(`documents contains ${String(document)}, which is not an MDocument.`);
    // The document names its source even if it has become empty and has no chunks.
    for (const { metadata } of document.sources) {
      const { source } = metadata;
      if (source !== undefined) (document.isUnavailable ? unavailable : sources).set(canonicalJson(source), source);
    }
    if (document.isUnavailable) continue;
    const { chunks, stored } = await chunkDocument(run, document);
    // A page in HTML is read when it is chunked.
    addSkipped(batch.skippedText, document.skippedText);
    for (const [index, chunk] of chunks.entries()) {
      const count = seen.size;
      if (seen.add(chunk.id).size === count) continue;
      if (index < stored) batch.unchanged += 1;
      else batch.chunks.push(chunk);
      if (batch.chunks.length + batch.unchanged < batchSize) continue;
      yield batch;
      batch = emptyBatch();
      if (performance.now() < nextPause) continue;
      // Timers and signals run, even if the store and the embedder never wait.
      await new Promise((resolve) => setTimeout(resolve));
      nextPause = performance.now() + longestTurn;
    }
    batch.documents += 1;
  }
  if (batch.documents > 0 || batch.chunks.length > 0) yield batch;
}

/**
 * Returns the chunks of a document, then their further vectors. Results of a model differ from call to call and cost money: it is called
 * only when a chunk of the document is not stored yet.
 *
 * @returns `stored` - number of chunks, from the first, that are stored already
 */
async function chunkDocument(
  run: IngestRun,
  document: MDocument,
): Promise<{ chunks: readonly ChunkVector[]; stored: number }> {
  const { scope, signal, vectors, embedder } = run;
  const { extract, ...plain } = run.chunkOptions;
  const inScope = (chunks: readonly Chunk[]): Chunk[] => nameLanguage(chunks).map((chunk) => addScope(chunk, scope));
  const plainChunks = await document.chunk(plain);
  // An index that was made without a context or further vectors gets them.
  const keys = [...(extract?.context ? [contextKey] : []), ...keysOfVectors(vectors)];
  const stored = extract && (await readIfStored(run, inScope(plainChunks), keys));
  if (extract && !stored) await document.extractMetadata(withSignal(extract, signal));
  // The document has been chunked, so these are its chunks.
  const chunks = stored ?? inScope(document.getDocs() as Chunk[]);
  return { chunks: toVectors(chunks, vectors, embedder.maxInputTokens), stored: stored?.length ?? 0 };
}

/** The extraction stops with the run, and by its own signal. */
function withSignal(extract: ExtractParams, signal: AbortSignal | undefined): ExtractParams {
  if (!signal) return extract;
  return { ...extract, signal: extract.signal ? AbortSignal.any([extract.signal, signal]) : signal };
}

/** Number of chunks, evenly spaced. With 8, one of 1,900 documents in 21 languages lost its language; with 12, none did. */
const sampleSize = 12;

/**
 * Names the language of a document in its chunks that do not show theirs, such as tables and code, so that keyword search analyzes them in it.
 * English is not named: such texts are analyzed in it anyway. A document is not of another language if no chunk of a sample shows one: the
 * detection for every chunk took as long as the rest of a run.
 */
function nameLanguage(chunks: readonly Chunk[]): readonly Chunk[] {
  if (chunks.length > sampleSize && sampleOf(chunks).every(isEnglish)) return chunks;
  const shown = chunks.map(languageOf);
  const common = mostFrequent(shown);
  if (!common || common === english) return chunks;
  return chunks.map((chunk, place) => {
    if (shown[place] || 'language' in chunk.metadata) return chunk;
    return { ...chunk, metadata: { ...chunk.metadata, language: common.code } };
  });
}

function sampleOf(chunks: readonly Chunk[]): Chunk[] {
  const step = chunks.length / sampleSize;
  return Array.from({ length: sampleSize }, (_, place) => chunks[Math.floor(place * step)] as Chunk);
}

function isEnglish(chunk: Chunk): boolean {
  return (languageOf(chunk) ?? english) === english;
}

function languageOf({ text, metadata }: Chunk): Language | undefined {
  return languagesOfText(text, metadata['language']).shown;
}

function mostFrequent(languages: readonly (Language | undefined)[]): Language | undefined {
  const counts = new Map<Language, number>();
  for (const language of languages) if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
