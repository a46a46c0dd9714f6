import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { getDefaultLogger, QuiverError, toErrorMessage } from '@quiver/core';
import type { Metadata } from '../document/chunk.js';
import type { CodeLanguage } from '../document/chunking/code-languages.js';
import { readJson } from '../document/chunking/json-reader.js';
import { MDocument, type DocumentType, type SourceDocument } from '../document/document.js';
import { fileKind } from './file-kinds.js';
import { createPathMatcher } from './glob.js';

/** `unknown encoding`: neither UTF-8 nor UTF-16 with a byte order mark, for example Latin-1. */
export type SkipReason = 'unreadable' | 'binary' | 'unknown encoding' | 'too large' | 'unknown type';

/** A file that was not loaded. */
export interface SkippedFile {
  /** Path from the folder, with `/`. */
  path: string;
  reason: SkipReason;
  /** Cause of `unreadable`, for example `PDF_PARSER_MISSING`, whose message names the package to install. */
  error?: unknown;
}

/** Progress of `loadDocuments()`. */
export interface LoadProgress {
  /** Documents so far, including the one at `path`. */
  loaded: number;
  skipped: number;
  path: string;
}

/** Options of `loadDocuments()`. */
export interface LoadDocumentsOptions {
  /**
   * Patterns of the files to load, such as `**\/*.md` or `docs/**`. Matching files with an unknown extension are read as text.
   * Default: every file with a known extension; the others are reported with the reason `unknown type`.
   */
  include?: readonly string[];
  /** Patterns of files and folders to exclude. Default: `node_modules`, and names that start with a dot. */
  exclude?: readonly string[];
  /** Size above which files are skipped, in bytes. Default 20 MB. */
  maxFileSize?: number;
  /** Metadata of every document. */
  metadata?: Metadata;
  onProgress?: (progress: LoadProgress) => void;
  /** Called for every file that is neither loaded nor excluded, with the reason. Default: a line in the log. */
  onSkip?: (file: SkippedFile) => void;
  signal?: AbortSignal;
}

const defaultMaxFileSize = 20_000_000;
const defaultExclude = ['node_modules', '.*'];

/**
 * Reads the documents of a folder on demand, one by one: Markdown, HTML, JSON, JSON Lines, source code, other text, and PDF page by
 * page. Each has its path from the folder as `metadata.source`. A file that cannot be read does not affect the others. A `.json` file
 * that is not JSON is read as source code. PDF files need the package `unpdf`; without it they are skipped.
 *
 * @throws `FOLDER_UNREADABLE`; `GLOB_INVALID`; the abort reason
 * @example
 * await ingest({ documents: loadDocuments('./docs', { exclude: ['drafts/**'] }), store, indexName, embedder });
 */
export async function* loadDocuments(folder: string, options: LoadDocumentsOptions = {}): AsyncGenerator<MDocument> {
  const { include, exclude = defaultExclude, metadata = {}, signal, maxFileSize = defaultMaxFileSize } = options;
  const { onProgress, onSkip = log } = options;
  const isIncluded = include && createPathMatcher(include);
  const isExcluded = createPathMatcher(exclude);
  const root = resolve(folder);
  let loaded = 0;
  let skipped = 0;
  const skip = (file: SkippedFile): void => {
    skipped += 1;
    onSkip(file);
  };
  const onUnreadable = (path: string, error: unknown): void => skip({ path, reason: 'unreadable', error });
  for await (const path of walkFolder(root, '', { isExcluded, signal, onUnreadable })) {
    signal?.throwIfAborted();
    if (isIncluded && !isIncluded(path)) continue;
    if (!isIncluded && !fileKind(path)) {
      skip({ path, reason: 'unknown type' });
      continue;
    }
    const result = await loadFile(join(root, path), path, { maxFileSize, signal });
    if ('reason' in result) {
      skip({ path, ...result });
      continue;
    }
    loaded += 1;
    onProgress?.({ loaded, skipped, path });
    const docs = result.docs.map((doc) => ({
      text: doc.text,
      metadata: { ...metadata, source: path, ...doc.metadata },
    }));
    yield new MDocument({ docs, type: result.type, ...(result.language && { language: result.language }) });
  }
}

type Loaded = { docs: SourceDocument[]; type: DocumentType; language?: CodeLanguage } | Omit<SkippedFile, 'path'>;

async function loadFile(
  file: string,
  path: string,
  { maxFileSize, signal }: { maxFileSize: number; signal: AbortSignal | undefined },
): Promise<Loaded> {
  const kind = fileKind(path) ?? { type: 'text' as const };
  try {
    if ((await stat(file)).size > maxFileSize) return { reason: 'too large' };
    const bytes = await readFile(file, signal ? { signal } : {});
    if (kind.type === 'pdf') return { docs: await readPdf(new Uint8Array(bytes)), type: 'text' };
    const text = decode(bytes);
    if (text === undefined) return { reason: bytes.includes(0) ? 'binary' : 'unknown encoding' };
    if (text.includes('\0')) return { reason: 'binary' };
    if (kind.type === 'json' && !isJson(text)) return { docs: [{ text }], type: 'text', language: 'js' };
    return { docs: [{ text }], type: kind.type, ...(kind.language && { language: kind.language }) };
  } catch (error) {
    signal?.throwIfAborted();
    return { reason: 'unreadable', error };
  }
}

/** Some `.json` files contain comments or trailing commas. */
function isJson(text: string): boolean {
  try {
    readJson(text);
    return true;
  } catch {
    return false;
  }
}

/** Decodes UTF-8, and UTF-16 with a byte order mark. Returns `undefined` for other encodings. */
function decode(bytes: Uint8Array): string | undefined {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Files of unknown types, such as images, are common: they are no reason for a warning. */
function log({ path, reason, error }: SkippedFile): void {
  const message = `${path} was not loaded: ${reason}${error === undefined ? '' : ` (${toErrorMessage(error)})`}`;
  if (reason === 'unknown type') getDefaultLogger().debug(message);
  else getDefaultLogger().warn(message);
}

/**
 * The text of each page of a PDF, with its number in the metadata, through `unpdf`, an optional peer dependency.
 *
 * @throws `PDF_PARSER_MISSING` when it is not installed; its own errors for damaged or encrypted files
 */
async function readPdf(bytes: Uint8Array): Promise<SourceDocument[]> {
  const { extractText, getDocumentProxy } = await import('unpdf').catch((error: unknown) => {
    throw new QuiverError(
      'PDF_PARSER_MISSING',
      'Reading PDF files needs the package unpdf. Install it: npm install unpdf',
      { cause: error },
    );
  });
  // 0: throws errors and prints nothing.
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { text } = await extractText(document, { mergePages: false }).finally(() => document.destroy());
  return text.map((page, index) => ({ text: page, metadata: { page: index + 1 } }));
}

interface WalkOptions {
  readonly isExcluded: (path: string) => boolean;
  readonly signal: AbortSignal | undefined;
  /** A folder that cannot be read. */
  readonly onUnreadable: (path: string, error: unknown) => void;
}

/** The files below a folder, as paths from the root with `/`, in the order of their names. Links are not followed. */
async function* walkFolder(root: string, folder: string, options: WalkOptions): AsyncGenerator<string> {
  options.signal?.throwIfAborted();
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (folder === '')
      throw new QuiverError('FOLDER_UNREADABLE', `The folder ${root} cannot be read: ${toErrorMessage(error)}`, {
        cause: error,
      });
    options.onUnreadable(folder, error);
    return [];
  });
  const found = entries
    .map((entry) => ({ entry, path: folder === '' ? entry.name : `${folder}/${entry.name}` }))
    .filter(({ path }) => !options.isExcluded(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  for (const { entry, path } of found) if (entry.isFile()) yield path;
  for (const { entry, path } of found) if (entry.isDirectory()) yield* walkFolder(root, path, options);
}
