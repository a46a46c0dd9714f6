import { isQuiverError, QuiverError } from '@quiver/core';
import type { CodeLanguage, DocumentType, SourceDocument } from '@quiver/rag/document';

/**
 * Reason for which a file was not loaded. `unknown encoding`: text that is neither UTF-8 nor UTF-16 with a byte order mark, and whose
 * encoding was not detected. `limit exceeded`: reading the file takes too much time or memory, or its structure is
 * too large, see `DOCUMENT_LIMIT_EXCEEDED`. `no text`: for example a scanned document.
 */
export type SkipReason =
  | 'unreadable'
  | 'binary'
  | 'unknown encoding'
  | 'too large'
  | 'limit exceeded'
  | 'unknown type'
  | 'encrypted'
  | 'no text';

/** A file, or a part of one such as an attachment, that was not loaded. */
export interface SkippedFile {
  /** Path from the folder, with `/`; an attachment has the path of its email, `#` and its name. */
  path: string;
  reason: SkipReason;
  /** Number of a page of a PDF document, from 1, whose text cannot be read. */
  page?: number;
  /** Cause of the reason. */
  error?: unknown;
}

/**
 * Texts of a file with their places in the metadata, such as `page`, `slide` or `row`. Arguments of the constructor of `MDocument`: each
 * text is chunked alone, and its chunks carry its metadata.
 */
export interface LoadedDocument {
  type: DocumentType;
  language?: CodeLanguage;
  docs: SourceDocument[];
  /** The page that `draw` requests, as PNG. */
  picture?: Uint8Array;
}

/** Part of a file that is searched: the main content without text that is only read, such as navigation and quoted mail, or everything. */
export type PageContent = 'main' | 'all';

/** Page of a PDF document that is drawn in place of reading the document. */
export interface DrawRequest {
  /** Path under which the page was reported. */
  readonly path: string;
  /** In dots per inch. */
  readonly resolution: number;
}

/** Input of a format's loader, apart from the bytes. */
export interface LoaderOptions {
  /** Path, file name or URL, for error messages. */
  readonly name: string;
  /** Encoding of text as the caller knows it, for example from `Content-Type`. Default: detected. */
  readonly encoding: string | undefined;
  /** Maximum size of everything that the archives in a file unpack to, in bytes. */
  readonly maxUnpackedSize: number;
  /** Size that archives unpacked to so far, also those in other parts of the file. */
  readonly unpacked: { size: number };
  /** Maximum size of a group of table rows or subtitles, in UTF-16 code units. A longer row is a separate group. */
  readonly groupSize: number;
  /** Part of the file that is searched. */
  readonly content: PageContent;
  /** Password of encrypted files. */
  readonly password: string | undefined;
  /** Texts of pages without text, by the path under which they are reported. */
  readonly recognized: ReadonlyMap<string, string> | undefined;
  /** Page that is drawn; the texts are not used. */
  readonly draw: DrawRequest | undefined;
  /** Loads a file inside the file by the loader of its own format. */
  readonly loadPart: (bytes: Uint8Array, part: { name: string; mediaType?: string }) => Promise<LoadedDocument[]>;
  /** Reports a part that is not loaded. */
  readonly onSkip: (file: SkippedFile) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads one file of one format. Errors that are not a `QuiverError` are reported as `DOCUMENT_UNREADABLE`, therefore a loader throws
 * its own errors only where it knows more.
 */
export type DocumentLoader = (bytes: Uint8Array, options: LoaderOptions) => Promise<LoadedDocument[]>;

/** Returns the error of a file that is damaged, or has another format than its name says. */
export function unreadableDocument(name: string, problem: string, cause?: unknown): QuiverError {
  return new QuiverError(
    'DOCUMENT_UNREADABLE',
    `${name} cannot be read: ${problem} Check that the file is complete and that its extension names its format.`,
    { cause, details: { name } },
  );
}

/** Returns the error of a file that exceeds a limit. */
export function tooLargeDocument(name: string, problem: string): QuiverError {
  return new QuiverError(
    'DOCUMENT_TOO_LARGE',
    `${name} is too large: ${problem}. Raise the limit if you trust the file.`,
    {
      details: { name },
    },
  );
}

/** Limit of a file's structure, or of the work of reading it. */
export interface ExceededLimit {
  readonly limit:
    | 'time'
    | 'memory'
    | 'nesting'
    | 'elements'
    | 'rows'
    | 'columns'
    | 'cells'
    | 'pages'
    | 'emails'
    | 'texts'
    | 'characters';
  readonly max: number;
  /** Value of the file. Missing where reading stops at the limit. */
  readonly value?: number;
}

/** Returns the error of a file that would take too much time or memory. */
export function limitExceeded(
  name: string,
  problem: string,
  exceeded: ExceededLimit,
  remedy = 'Check that the file is not damaged, or split it',
): QuiverError {
  return new QuiverError('DOCUMENT_LIMIT_EXCEEDED', `${name} exceeds a limit: ${problem}. ${remedy}.`, {
    details: { name, ...exceeded },
  });
}

/** Maximum number of texts of a file: as many as a spreadsheet has rows. */
const maxTexts = 1_048_576;

/** @throws `DOCUMENT_LIMIT_EXCEEDED` */
export function requireTexts(texts: number, name: string): void {
  if (texts <= maxTexts) return;
  const problem = `it has more than ${maxTexts} texts, for example records or groups of rows`;
  throw limitExceeded(name, problem, { limit: 'texts', max: maxTexts });
}

const reasons: Readonly<Record<string, SkipReason>> = {
  DOCUMENT_BINARY: 'binary',
  DOCUMENT_ENCODING_UNKNOWN: 'unknown encoding',
  DOCUMENT_TOO_LARGE: 'too large',
  DOCUMENT_LIMIT_EXCEEDED: 'limit exceeded',
  HTML_TOO_DEEP: 'limit exceeded',
  DOCUMENT_TYPE_UNKNOWN: 'unknown type',
  DOCUMENT_ENCRYPTED: 'encrypted',
  DOCUMENT_EMPTY: 'no text',
};

/** Returns the report of a file that could not be loaded because of an error. */
export function toSkippedFile(path: string, error: unknown): SkippedFile {
  return { path, reason: (isQuiverError(error) && reasons[error.code]) || 'unreadable', error };
}
