import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { getDefaultLogger, isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { Metadata } from '../document/chunk.js';
import type { CodeLanguage } from '../document/chunking/code-languages.js';
import { readJson } from '../document/chunking/json-scanner.js';
import { MDocument, type DocumentType, type SourceDocument } from '../document/document.js';
import { fileKind } from './file-kinds.js';
import { createPathMatcher } from './glob.js';
import { readPdf } from './read-pdf.js';
import { walkFolder } from './walk-folder.js';

export type SkipReason = 'unreadable' | 'binary' | 'too large' | 'unknown type';

/** A file that was not loaded. */
export interface SkippedFile {
  /** From the folder, with `/`. */
  path: string;
  reason: SkipReason;
  error?: unknown;
}

export interface LoadProgress {
  /** Documents given so far, the one at `path` included. */
  loaded: number;
  skipped: number;
  path: string;
}

export interface LoadDocumentsOptions {
  /**
   * Patterns of the files to load, such as `**\/*.md` or `docs/**`; files that match are read as text even if their extension is
   * not known. Default: every file with a known extension.
   */
  include?: readonly string[];
  /** Patterns of files and folders to leave out. Default: `node_modules`, and what starts with a dot. */
  exclude?: readonly string[];
  /** Larger files are skipped, in bytes. Default 20 MB. */
  maxFileSize?: number;
  /** Added to that of every document. */
  metadata?: Metadata;
  onProgress?: (progress: LoadProgress) => void;
  /** Is told of files that match but cannot be loaded. Default: a warning in the log. */
  onSkip?: (file: SkippedFile) => void;
  signal?: AbortSignal;
}

const defaultMaxFileSize = 20_000_000;
const defaultExclude = ['node_modules', '.*'];

/**
 * Reads the documents of a folder one by one, as they are asked for: Markdown, HTML, JSON, source code, other text, and PDF page
 * by page. Each has its path from the folder as `metadata.source`. A file that cannot
 * be read does not end the others; a `.json` file that is not JSON is read as source code.
 *
 * @throws `FOLDER_UNREADABLE`; `GLOB_INVALID`; `PDF_PARSER_MISSING` at the first PDF file when `unpdf` is not installed; the
 *   reason of `signal`
 * @example
 * await ingest({ documents: loadDocuments('./docs', { exclude: ['drafts/**'] }), store, indexName, embedder });
 */
export async function* loadDocuments(folder: string, options: LoadDocumentsOptions = {}): AsyncGenerator<MDocument> {
  const { include, exclude = defaultExclude, metadata = {}, signal, maxFileSize = defaultMaxFileSize } = options;
  const { onProgress, onSkip = warn } = options;
  const isIncluded = include ? createPathMatcher(include) : (path: string): boolean => fileKind(path) !== undefined;
  const isExcluded = createPathMatcher(exclude);
  const root = resolve(folder);
  let loaded = 0;
  let skipped = 0;
  const skip = (file: SkippedFile): void => {
    skipped += 1;
    onSkip(file);
  };
  const onUnreadable = (path: string, error: unknown): void => skip({ path, reason: 'unreadable', error });
  await requireFolder(root);
  for await (const path of walkFolder(root, { isExcluded, signal, onUnreadable })) {
    signal?.throwIfAborted();
    if (!isIncluded(path)) continue;
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
    if (text === undefined) return { reason: 'binary' };
    if (kind.type === 'json' && !isJson(text)) return { docs: [{ text }], type: 'text', language: 'js' };
    return { docs: [{ text }], type: kind.type, ...(kind.language && { language: kind.language }) };
  } catch (error) {
    signal?.throwIfAborted();
    if (isQuiverError(error, 'PDF_PARSER_MISSING')) throw error;
    return { reason: 'unreadable', error };
  }
}

/** Many a `.json` file has comments or commas that JSON does not. */
function isJson(text: string): boolean {
  try {
    readJson(text);
    return true;
  } catch {
    return false;
  }
}

/** The text of UTF-8, and of UTF-16 with a byte order mark; `undefined` for anything else. */
function decode(bytes: Uint8Array): string | undefined {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => {
    throw new QuiverError('FOLDER_UNREADABLE', `The folder ${folder} cannot be read: ${toErrorMessage(error)}`, {
      cause: error,
    });
  });
  if (!found.isDirectory()) throw new QuiverError('FOLDER_UNREADABLE', `${folder} is not a folder.`);
}

function warn({ path, reason, error }: SkippedFile): void {
  getDefaultLogger().warn(
    `${path} was not loaded: ${reason}${error === undefined ? '' : ` (${toErrorMessage(error)})`}`,
  );
}
