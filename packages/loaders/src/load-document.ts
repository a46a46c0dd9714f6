import { isQuiverError } from '@quiver/core';
import {
  checkOptions,
  functionValue,
  oneOf,
  type OptionCheck,
  type OptionChecks,
  signalValue,
  stringValue,
  valueThat,
  invalidOptions,
} from '@quiver/core/internal';
import { MDocument, type Metadata } from '@quiver/rag/document';
import { readInWorker } from './document-worker-pool.js';
import {
  tooLargeDocument,
  type DrawRequest,
  type LoadedDocument,
  type PageContent,
  type SkippedFile,
} from './formats/document-loader.js';
import { readDocument, requireFormat, type ReadRequest } from './formats/read-document.js';
import { recognizePages, type RecognizeText } from './recognize-pages.js';

/** Options of `loadDocument()`. */
export interface LoadDocumentOptions {
  /** Path, file name or URL. Its extension decides the format. Default: the name of a `File`. */
  name?: string;
  /** Media type, for example the value of `Content-Type`. A known one decides before the extension. Default: the type of a `Blob`. */
  mediaType?: string;
  /** Encoding of text without a byte order mark, such as `windows-1252`. Default: UTF-8, or detected. */
  encoding?: string;
  /** Metadata of every document. `source` is `name` by default. */
  metadata?: Metadata;
  /** Maximum size of the file in bytes. Archives such as DOCX may unpack to ten times this size. Default 20 MB. */
  maxFileSize?: number;
  /**
   * Maximum size of a group of table rows or subtitles, in UTF-16 code units. Each group of rows repeats the header. Use at most the
   * `maxSize` with which the documents are chunked. Default 1000.
   */
  groupSize?: number;
  /**
   * Part of a file that is searched: the main content without navigation, tables of contents, quoted mail and other text that is only read, or
   * everything. Default `main`.
   */
  content?: PageContent;
  /** Recognizes the text of scanned PDF pages, one page of a file at a time. Without it, each is reported to `onSkip` as `<name>#page=<number>`. */
  ocr?: RecognizeText;
  /** Password of encrypted PDF files. */
  password?: string;
  /** Called for every part of the file that is not loaded, for example an attachment. Default: nothing. */
  onSkip?: (file: SkippedFile) => void;
  /** Time that reading the file may take, in milliseconds, without the calls of `ocr`. Default 60,000. */
  timeout?: number;
  /**
   * Memory that reading the file may take, in megabytes, with memory that is not reclaimed yet. The parsers take 20 to 50 of them.
   * Default: half of the heap limit of the process, for example 2048.
   */
  maxMemoryMb?: number;
  /** Aborts the load. */
  signal?: AbortSignal;
}

/** Accepts a number above 0, also `Infinity`. */
export const positiveValue: OptionCheck = valueThat(
  (value) => typeof value === 'number' && value > 0,
  'a number above 0',
);

/** Checks of the options that all functions have which read files. */
export const readChecks: OptionChecks<
  Pick<
    LoadDocumentOptions,
    'encoding' | 'metadata' | 'content' | 'ocr' | 'password' | 'groupSize' | 'timeout' | 'maxMemoryMb' | 'signal'
  >
> = {
  encoding: stringValue,
  metadata: valueThat((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'an object'),
  groupSize: positiveValue,
  content: oneOf('main', 'all'),
  ocr: functionValue,
  password: stringValue,
  timeout: positiveValue,
  maxMemoryMb: positiveValue,
  signal: signalValue,
};

const textValue = valueThat((value) => typeof value === 'string', 'a string');

const checks: OptionChecks<LoadDocumentOptions> = {
  name: textValue,
  mediaType: textValue,
  maxFileSize: positiveValue,
  onSkip: functionValue,
  ...readChecks,
};

export const defaultMaxSize = 20_000_000;
const defaultGroupSize = 1000;
const unpackedRatio = 10;
/** Size up to which files are read on the thread of the caller if their format takes linear time: within about 20 milliseconds. */
export const maxInlineSize = 1_000_000;

/**
 * Reads a file without a file system: Markdown, HTML, JSON, source code and other text, PDF, DOCX, PPTX, XLSX, ODT, EPUB, CSV, email,
 * notebooks and subtitles. Chunks of the documents have their place in the metadata, such as `page`, `slide`, `sheet` and `row`.
 *
 * The parser of a format is imported with its first file. It runs in a worker thread, which is reused, and ended when a file exceeds
 * `timeout` or `maxMemoryMb`.
 *
 * @returns one document; for an email with attachments, also their documents
 * @throws `DOCUMENT_TYPE_UNKNOWN`; `DOCUMENT_UNREADABLE` for a damaged file; `DOCUMENT_ENCRYPTED`; `DOCUMENT_TOO_LARGE`; `DOCUMENT_LIMIT_EXCEEDED`, whose `details`
 *   name the limit; `DOCUMENT_EMPTY` for a file without text; `DOCUMENT_BINARY`; `DOCUMENT_ENCODING_UNKNOWN`; `OPTIONS_INVALID` for
 *   an invalid argument and an unknown option; `DOCUMENT_WORKER_UNAVAILABLE` when `timeout` or `maxMemoryMb` is set and worker threads cannot be started; the
 *   abort reason
 * @example
 * const documents = await loadDocument(await request.blob(), { name: 'report.docx' });
 * await ingest({ documents, vectorStore, indexName: 'uploads', model });
 */
export async function loadDocument(
  file: Blob | Uint8Array | ArrayBuffer,
  options: LoadDocumentOptions = {},
): Promise<MDocument[]> {
  checkOptions('loadDocument', options, checks);
  options.signal?.throwIfAborted();
  const name = options.name ?? (file as Partial<File>).name;
  if (typeof name !== 'string' || name === '')
    throw invalidOptions('loadDocument() needs the `name` of the file, for example report.docx.');
  const { maxFileSize = defaultMaxSize } = options;
  const size = file instanceof Blob ? file.size : file?.byteLength;
  if (typeof size !== 'number')
    throw invalidOptions(`The content of ${name} must be a Blob, a Uint8Array or an ArrayBuffer.`);
  if (size > maxFileSize) throw tooLargeDocument(name, `it has ${size} bytes, and the limit is ${maxFileSize}`);
  const mediaType = options.mediaType ?? (file instanceof Blob ? file.type : undefined);
  const bytes =
    file instanceof Uint8Array ? file : new Uint8Array(file instanceof Blob ? await file.arrayBuffer() : file);
  const read = await readBytes(bytes, { ...options, name, mediaType, isOwned: file instanceof Blob });
  return read.map((document) => new MDocument(document));
}

/** Options of `readBytes()`, which are valid. */
type ReadBytesOptions = Omit<Optional<LoadDocumentOptions>, 'name'> &
  Pick<ReadRequest, 'name'> & {
    /** Whether the bytes may be detached from this thread. */
    readonly isOwned: boolean;
  };

type Optional<Options> = { [Key in keyof Options]?: Options[Key] | undefined };

/**
 * Returns whether a file is read on the thread of the caller: it is small, and its format takes linear time.
 *
 * @throws `DOCUMENT_TYPE_UNKNOWN`
 */
export function isReadInline(name: string, size: number, mediaType: string | undefined): boolean {
  return size <= maxInlineSize && requireFormat(name, mediaType).isLinear === true;
}

/**
 * Reads a file whose size was checked: in a worker thread, unless its format takes linear time and it is small, or there are no worker
 * threads. The documents are plain data, with the metadata of the caller.
 */
export async function readBytes(bytes: Uint8Array, options: ReadBytesOptions): Promise<LoadedDocument[]> {
  const { name, mediaType, encoding, metadata, maxFileSize = defaultMaxSize, groupSize = defaultGroupSize } = options;
  const { content = 'main', ocr, password, onSkip = () => undefined, signal, timeout, maxMemoryMb } = options;
  const request: ReadRequest = {
    name,
    mediaType,
    encoding,
    password,
    content,
    groupSize,
    maxUnpackedSize: maxFileSize * unpackedRatio,
    recognized: undefined,
    draw: undefined,
  };
  const isOwned = options.isOwned && ocr === undefined;
  const read = async (changes: Partial<ReadRequest>, report: typeof onSkip): Promise<LoadedDocument[]> => {
    const changed = { ...request, ...changes };
    const hooks = { onSkip: report, signal };
    return (
      (isReadInline(name, bytes.length, mediaType)
        ? undefined
        : await readInWorker(bytes, changed, { ...hooks, timeout, maxMemoryMb, isOwned })) ??
      readDocument(bytes, changed, hooks)
    );
  };
  const scanned: SkippedFile[] = [];
  let problem: unknown;
  let loaded = await read({}, (file) => {
    if (ocr && file.page !== undefined) scanned.push(file);
    else onSkip(file);
  }).catch((error: unknown): LoadedDocument[] => {
    if (scanned.length === 0 || !isQuiverError(error) || error.code !== 'DOCUMENT_EMPTY') throw error;
    problem = error;
    return [];
  });
  if (ocr && scanned.length > 0) {
    const ignore = (): void => undefined;
    const draw = async (request: DrawRequest): Promise<Uint8Array> =>
      (await read({ draw: request }, ignore)).find(({ picture }) => picture)!.picture!;
    const recognized = await recognizePages(scanned, ocr, draw, { onSkip, signal });
    if (recognized.size > 0) loaded = await read({ recognized }, ignore);
    else if (problem !== undefined) throw problem;
  }
  return loaded.map(({ docs, ...document }) => ({
    ...document,
    docs: docs.map((doc) => ({ ...doc, metadata: { source: name, ...doc.metadata, ...metadata } })),
  }));
}
