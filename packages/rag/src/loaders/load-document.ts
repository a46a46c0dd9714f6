import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { Metadata } from '../document/chunk.js';
import { MDocument } from '../document/document.js';
import { findFormat } from './document-formats.js';
import {
  tooLargeDocument,
  unreadableDocument,
  type LoadedDocument,
  type LoaderOptions,
  type SkippedFile,
} from './document-loader.js';
import type { RecognizeText } from './pdf/scanned-page.js';

/** Options of `loadDocument()`. */
export interface LoadDocumentOptions {
  /** Path, file name or URL. Its extension decides the format. Default: the name of a `File`. */
  name?: string;
  /** Media type, for example the value of `Content-Type`. A known one decides before the extension. Default: the type of a `Blob`. */
  mediaType?: string;
  /** Encoding of text without a byte order mark, such as `windows-1252`. Default: UTF-8, or detected by the package `chardet`. */
  encoding?: string;
  /** Metadata of every document. `source` is `name` by default. */
  metadata?: Metadata;
  /** Maximum size of the file in bytes. Archives such as DOCX may unpack to ten times this size. Default 20 MB. */
  maxSize?: number;
  /**
   * Maximum size of a group of table rows or subtitles, in UTF-16 code units. Each group of rows repeats the header. Use at most the
   * `maxSize` with which the documents are chunked. Default 1000.
   */
  groupSize?: number;
  /** Recognizes the text of scanned PDF pages. Without it, each is reported to `onSkip` as `<name>#page=<number>`. */
  ocr?: RecognizeText;
  /** Called for every part of the file that is not loaded, for example an attachment. Default: nothing. */
  onSkip?: (file: SkippedFile) => void;
  signal?: AbortSignal;
}

export const defaultMaxSize = 20_000_000;
const defaultGroupSize = 1000;
const unpackedRatio = 10;
/** Maximum depth of files in files, such as emails that are attached to emails. */
const maxDepth = 5;

/**
 * Reads a file without a file system: Markdown, HTML, JSON, source code and other text, PDF, DOCX, PPTX, XLSX, ODT, EPUB, CSV, email,
 * notebooks and subtitles. Chunks of the documents have their place in the metadata, such as `page`, `slide`, `sheet` and `row`.
 *
 * Parsers are optional packages, see the guide to documents.
 *
 * @returns one document; for an email with attachments, also their documents
 * @throws `DOCUMENT_TYPE_UNKNOWN`; `DOCUMENT_PARSER_MISSING` and `PDF_PARSER_MISSING`, which name the package to install;
 *   `DOCUMENT_UNREADABLE` for a damaged file; `DOCUMENT_ENCRYPTED`; `DOCUMENT_TOO_LARGE`; `DOCUMENT_EMPTY` for a file without text;
 *   `DOCUMENT_BINARY`; `DOCUMENT_ENCODING_UNKNOWN`; `DOCUMENT_INVALID` for an invalid argument; the abort reason
 * @example
 * const documents = await loadDocument(await request.blob(), { name: 'report.docx' });
 * await ingest({ documents, store, indexName: 'uploads', embedder });
 */
export async function loadDocument(
  file: Blob | Uint8Array | ArrayBuffer,
  options: LoadDocumentOptions = {},
): Promise<MDocument[]> {
  const { metadata, encoding, maxSize = defaultMaxSize, groupSize = defaultGroupSize } = options;
  const { ocr, onSkip = () => undefined, signal } = options;
  signal?.throwIfAborted();
  const name = options.name ?? (file as Partial<File>).name;
  if (typeof name !== 'string' || name === '')
    throw new QuiverError('DOCUMENT_INVALID', 'loadDocument() needs the `name` of the file, for example report.docx.');
  for (const [key, value] of Object.entries({ maxSize, groupSize })) {
    if (!(value > 0))
      throw new QuiverError('DOCUMENT_INVALID', `${key} must be a positive number, not ${String(value)}.`);
  }
  const size = file instanceof Blob ? file.size : file?.byteLength;
  if (typeof size !== 'number')
    throw new QuiverError('DOCUMENT_INVALID', `The content of ${name} must be a Blob, a Uint8Array or an ArrayBuffer.`);
  if (size > maxSize) throw tooLargeDocument(name, `it has ${size} bytes, and the limit is ${maxSize}`);
  const bytes =
    file instanceof Uint8Array ? file : new Uint8Array(file instanceof Blob ? await file.arrayBuffer() : file);
  const mediaType = options.mediaType ?? (file instanceof Blob ? file.type : undefined);
  const maxUnpackedSize = maxSize * unpackedRatio;
  const shared = { maxUnpackedSize, unpacked: { size: 0 }, groupSize, ocr, onSkip, signal };
  const loaded = await loadBytes(bytes, { name, mediaType, encoding }, shared, 0);
  return loaded.map(
    ({ docs, ...document }) =>
      new MDocument({
        ...document,
        docs: docs.map((doc) => ({ ...doc, metadata: { source: name, ...metadata, ...doc.metadata } })),
      }),
  );
}

/** @param options - those that a file shares with the files in it */
async function loadBytes(
  bytes: Uint8Array,
  { name, mediaType, encoding }: { name: string; mediaType?: string | undefined; encoding?: string | undefined },
  options: Omit<LoaderOptions, 'name' | 'encoding' | 'loadPart'>,
  depth: number,
): Promise<LoadedDocument[]> {
  const format = findFormat(name, mediaType);
  if (!format) {
    throw new QuiverError(
      'DOCUMENT_TYPE_UNKNOWN',
      `The format of ${name} is unknown. Name the file with a known extension, or pass its \`mediaType\`.`,
      { details: { name } },
    );
  }
  if (depth > maxDepth) throw tooLargeDocument(name, `it is nested more than ${maxDepth} files deep`);
  const loadPart: LoaderOptions['loadPart'] = (content, part) => loadBytes(content, part, options, depth + 1);
  const loaded = await format.load(bytes, { ...options, name, encoding, loadPart }).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw isQuiverError(error) ? error : unreadableDocument(name, `${toErrorMessage(error)}.`, error);
  });
  options.signal?.throwIfAborted();
  if (loaded.some(({ docs }) => docs.length > 0)) return loaded;
  throw new QuiverError(
    'DOCUMENT_EMPTY',
    `${name} contains no text. A scanned document needs text recognition first.`,
    {
      details: { name },
    },
  );
}
