import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { getDefaultLogger, isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import {
  checkOptions,
  functionValue,
  type OptionChecks,
  runAhead,
  signalValue,
  stringList,
  stringValue,
} from '@quiver/core/internal';
import { MDocument } from '@quiver/rag/document';
import { findFormat } from '../formats/document-formats.js';
import {
  tooLargeDocument,
  toSkippedFile,
  unreadableDocument,
  type LoadedDocument,
  type SkippedFile,
} from '../formats/document-loader.js';
import {
  defaultMaxSize,
  isReadInline,
  maxInlineSize,
  readBytes,
  positiveValue,
  readChecks,
  type LoadDocumentOptions,
} from '../load-document.js';
import { isUnreadDocument, listUnread, unknownFormat } from '../formats/unread-formats.js';
import { DocumentCache } from './document-cache.js';
import { FolderPages, isPage } from './folder-pages.js';
import { createPathMatcher } from './glob.js';

/** Progress of `loadDocuments()`. */
export interface LoadProgress {
  /** Number of loaded files, including the one at `path`. */
  loaded: number;
  skipped: number;
  /** Number of files in the folder: the sum of `loaded` and `skipped` after the last file. */
  total: number;
  path: string;
}

/** Options of `loadDocuments()`. */
export interface LoadDocumentsOptions extends Pick<
  LoadDocumentOptions,
  'encoding' | 'metadata' | 'content' | 'ocr' | 'groupSize' | 'timeout' | 'maxMemoryMb' | 'signal'
> {
  /**
   * Patterns of the files to load, such as `**\/*.md` or `docs/**`. Matching files with an unknown extension are read as text.
   * Default: every file with a known extension; the others are reported with the reason `unknown type`.
   */
  include?: readonly string[];
  /** Patterns of files and folders to exclude. Default: `node_modules`, and names that start with a dot. */
  exclude?: readonly string[];
  /**
   * Files to load, as paths from the folder, in place of those that `include` and `exclude` select. HTML pages are compared with those of the whole
   * folder, so their texts are the same as without `paths`.
   */
  paths?: readonly string[];
  /** Size above which files are skipped, in bytes. Default 20 MB. */
  maxFileSize?: number;
  /**
   * Folder in which the texts of parsed files are kept, such as `.cache/documents`. A later run, also after an interrupted one, parses
   * only files that are new or have changed. It can be deleted at any time. Default: nothing is kept.
   */
  cache?: string;
  /** Called for every file that was loaded, or skipped for another reason than `unknown type`. */
  onProgress?: (progress: LoadProgress) => void;
  /** Called for every file that is neither loaded nor excluded, with the reason. Default: a line in the log, and one at the end about documents to convert. */
  onSkip?: (file: SkippedFile) => void;
}

/** Checks of {@link LoadDocumentsOptions}. */
export const loadDocumentsChecks: OptionChecks<LoadDocumentsOptions> = {
  include: stringList,
  exclude: stringList,
  paths: stringList,
  maxFileSize: positiveValue,
  cache: stringValue,
  onProgress: functionValue,
  onSkip: functionValue,
  ...readChecks,
};

const defaultExclude = ['node_modules', '.*'];

/**
 * Reads the documents of a folder on demand, in the order of their paths, in every format of `loadDocument()`. Each has its path from the
 * folder as `metadata.source`. Up to four files are read at a time, two of them by threads. A file that cannot be read does not affect the
 * others. One that the system could not open or read for the moment (`EMFILE`, `ENFILE`, `EIO`, `EBUSY`, `ENOMEM`) is reported and takes the form of
 * an empty document, `MDocument.unavailable(path)`, so that `ingest({ cleanup: 'all' })` keeps its stored chunks. A folder that could not be
 * listed for such a reason ends the run.
 *
 * @throws `FOLDER_UNREADABLE`; `OPTIONS_INVALID` for an invalid or unknown option; `DOCUMENT_WORKER_UNAVAILABLE`, as
 *   `loadDocument()`; the abort reason
 * @example
 * await ingest({ documents: loadDocuments('./docs', { exclude: ['drafts/**'] }), vectorStore, indexName, model });
 */
export function loadDocuments(folder: string, options: LoadDocumentsOptions = {}): LoadedDocuments {
  const count: DocumentCount = { total: undefined };
  return Object.defineProperty(readFolder(folder, options, count), 'total', {
    get: () => count.total,
  }) as unknown as LoadedDocuments;
}

/** The documents of a folder. */
export interface LoadedDocuments extends AsyncGenerator<MDocument> {
  /** Number of documents as far as it is known: `undefined` until the folder is listed. Skipped files and attachments change it. */
  readonly total: number | undefined;
}

interface DocumentCount {
  total: number | undefined;
}

async function* readFolder(
  folder: string,
  options: LoadDocumentsOptions,
  count: DocumentCount,
): AsyncGenerator<MDocument> {
  checkOptions('loadDocuments', options, loadDocumentsChecks);
  const { include, exclude, paths: given, onProgress, onSkip = log, cache: cacheFolder, ...rest } = options;
  const { signal } = rest;
  const root = resolveFolder(folder);
  let loaded = 0;
  let skipped = 0;
  const unread: string[] = [];
  const skip = (file: SkippedFile): void => {
    skipped += 1;
    if (isUnreadDocument(file.path)) unread.push(file.path);
    onSkip(file);
  };
  const select = async (onSkipped: (file: SkippedFile) => void): Promise<string[]> => {
    const found: string[] = [];
    const onUnreadable = (path: string, error: unknown): void => onSkipped({ path, reason: 'unreadable', error });
    for await (const path of selectFiles(root, { include, exclude, signal, onUnreadable, onSkip: onSkipped }))
      if (!isWithin(join(root, path), cacheFolder)) found.push(path);
    return found;
  };
  const paths = given ?? (await select(skip));
  const total = paths.length + skipped;
  count.total = paths.length;
  const cache =
    cacheFolder === undefined ? undefined : await DocumentCache.open(resolve(cacheFolder), toSettings(rest));
  const isCompared = rest.content !== 'all' && paths.some(isPage);
  const pages = isCompared ? new FolderPages<LoadedFile>(given ? await select(() => undefined) : paths) : undefined;
  const { maxFileSize = defaultMaxSize } = rest;
  const load = (path: string, runSignal: AbortSignal): Promise<LoadedFile> => {
    const read = (maxFileSize: number) => (file: string) =>
      loadFile(root, file, { ...rest, maxFileSize, cache, signal: runSignal, isGiven: given !== undefined });
    const readWhole = read(maxFileSize);
    return pages?.load(path, readWhole, read(Math.min(maxFileSize, maxInlineSize))) ?? readWhole(path);
  };
  for await (const { path, documents, parts, error } of runAhead(paths, filesAhead, load, signal)) {
    // The next files may be ready already.
    signal?.throwIfAborted();
    for (const part of parts) onSkip(part);
    count.total += (documents?.length ?? 0) - 1;
    if (documents) loaded += 1;
    else skip(toSkippedFile(path, error));
    onProgress?.({ loaded, skipped, total, path });
    for (const document of documents ?? []) yield new MDocument(document);
    if (isPassing(error)) yield MDocument.unavailable(path);
  }
  if (unread.length > 0 && onSkip === log)
    getDefaultLogger().warn(`Documents in formats that are not read: ${listUnread(unread)}`);
}

/**
 * Number of files that are read at a time. Two threads parse them, and small ones are read on the calling thread: with more files than
 * threads, a large file does not stop the other thread.
 */
const filesAhead = 4;

/** System errors whose cause is not the file. */
const passingErrors: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EIO', 'EBUSY', 'ENOMEM']);

function isPassing(error: unknown): boolean {
  return passingErrors.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** Files that `include` matches are text if their extension is unknown. */
const mediaType = 'text/plain';

interface LoadedFile {
  readonly path: string;
  /** Missing for a file that was not loaded because of `error`. */
  readonly documents?: readonly LoadedDocument[];
  /** Parts of the file that were not loaded. */
  readonly parts: readonly SkippedFile[];
  readonly error?: unknown;
}

interface LoadFileOptions extends Omit<LoadDocumentsOptions, 'cache' | 'signal' | 'maxFileSize'> {
  readonly maxFileSize: number;
  readonly cache: DocumentCache | undefined;
  /** Whether the caller named the path. */
  readonly isGiven: boolean;
  readonly signal: AbortSignal;
}

/** Returns the options that texts depend on, as plain data. */
function toSettings({
  ocr,
  timeout: _timeout,
  maxMemoryMb: _memory,
  signal: _signal,
  ...settings
}: LoadDocumentsOptions): object {
  return { ...settings, hasOcr: ocr !== undefined };
}

async function loadFile(root: string, path: string, options: LoadFileOptions): Promise<LoadedFile> {
  const { maxFileSize, cache, isGiven, signal, ...rest } = options;
  const parts: SkippedFile[] = [];
  try {
    if (isGiven) await requireInside(root, path);
    const file = join(root, path);
    const bytes = await readRegularFile(file, { path, maxFileSize, signal });
    const read = (): Promise<LoadedDocument[]> =>
      readBytes(bytes, {
        ...rest,
        metadata: { ...rest.metadata, source: path },
        name: path,
        mediaType,
        maxFileSize,
        onSkip: (part) => parts.push(part),
        isOwned: true,
        signal,
      });
    // Reading the others takes less time than the cache.
    const isCached = cache !== undefined && !isReadInline(path, bytes.length, mediaType);
    const loaded = isCached
      ? await cache.get(file, bytes, async () => ({ documents: await read(), parts }))
      : { documents: await read(), parts };
    return { path, ...loaded };
  } catch (error) {
    signal.throwIfAborted();
    // Every other file would fail as well.
    if (isQuiverError(error, 'DOCUMENT_WORKER_UNAVAILABLE')) throw error;
    return { path, parts, error };
  }
}

/** Reads a file. A pipe or a device could wait indefinitely: it is opened without waiting, and refused. */
async function readRegularFile(
  file: string,
  { path, maxFileSize, signal }: { path: string; maxFileSize: number; signal: AbortSignal },
): Promise<Uint8Array> {
  // Windows has no such flag.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw unreadableDocument(path, 'it is not a regular file.');
    if (stats.size > maxFileSize)
      throw tooLargeDocument(path, `it has ${stats.size} bytes, and the limit is ${maxFileSize}`);
    return await handle.readFile({ signal });
  } finally {
    await handle.close();
  }
}

/** A file of a folder, for the jobs of a queue. */
export interface ListedFile {
  /** Path from the folder, with `/`. */
  source: string;
  /** Text that changes with the content. */
  fingerprint: string;
}

/** Options of `listFiles()`. */
export type ListFilesOptions = Pick<LoadDocumentsOptions, 'include' | 'exclude' | 'signal' | 'onSkip'>;

const listFilesChecks: OptionChecks<ListFilesOptions> = {
  include: stringList,
  exclude: stringList,
  onSkip: functionValue,
  signal: signalValue,
};

/**
 * Lists the files that {@link loadDocuments} loads, for the jobs of a queue: their paths from the folder, with size and time of the last
 * change as fingerprint. A folder that cannot be read is an error, because documents that are not listed are removed.
 *
 * @throws `FOLDER_UNREADABLE`; `OPTIONS_INVALID` for an invalid or unknown option; the abort reason
 */
export async function* listFiles(folder: string, options: ListFilesOptions = {}): AsyncGenerator<ListedFile> {
  checkOptions('listFiles', options, listFilesChecks);
  const { include, exclude, signal, onSkip = log } = options;
  const root = resolveFolder(folder);
  const onUnreadable = (path: string, error: unknown): never => {
    throw unreadableFolder(join(root, path), error);
  };
  for await (const path of selectFiles(root, { include, exclude, signal, onUnreadable, onSkip })) {
    const { size, mtimeMs } = await stat(join(root, path));
    yield { source: path, fingerprint: `${size} ${mtimeMs}` };
  }
}

interface SelectOptions {
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  readonly signal: AbortSignal | undefined;
  /** Called for a folder that cannot be read. */
  readonly onUnreadable: (path: string, error: unknown) => void;
  readonly onSkip: (file: SkippedFile) => void;
}

/** Yields the paths of the files that patterns and extensions select. */
async function* selectFiles(
  root: string,
  { include, exclude = defaultExclude, signal, onUnreadable, onSkip }: SelectOptions,
): AsyncGenerator<string> {
  const isIncluded = include && createPathMatcher(include);
  const isExcluded = createPathMatcher(exclude);
  for await (const path of walkFolder(root, '', { isExcluded, signal, onUnreadable })) {
    if (isIncluded ? isIncluded(path) : findFormat(path)) yield path;
    else if (!isIncluded)
      onSkip({ path, reason: 'unknown type', ...(isUnreadDocument(path) && { error: unknownFormat(path) }) });
  }
}

/** The texts of the cache are not documents of a folder around it. */
function isWithin(file: string, folder: string | undefined): boolean {
  return folder !== undefined && file.startsWith(resolve(folder) + sep);
}

/** Paths can come from a job queue: none may lead out of the folder, not even by a link. */
async function requireInside(root: string, path: string): Promise<void> {
  const found = relative(await realpath(root), await realpath(join(root, path)));
  if (path.startsWith('../') || found.split(sep).join('/') !== path)
    throw new QuiverError('PATH_OUTSIDE_FOLDER', `${path} is not a path within the folder, or leads through a link.`);
}

/** Files of unknown types, such as images, are common: they are no reason for a warning. */
function log({ path, reason, error }: SkippedFile): void {
  const message = `${path} was not loaded: ${reason}${error === undefined ? '' : ` (${toErrorMessage(error)})`}`;
  if (reason === 'unknown type') getDefaultLogger().debug(message);
  else getDefaultLogger().warn(message);
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
    // The documents of a folder that could not be listed for the moment are not known, and would be removed from an index.
    if (folder === '' || isPassing(error)) throw unreadableFolder(join(root, folder), error);
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

/** An empty path would be the current folder. */
function resolveFolder(folder: unknown): string {
  if (typeof folder === 'string' && folder !== '') return resolve(folder);
  throw new QuiverError(
    'FOLDER_UNREADABLE',
    `The path of a folder must be a text that is not empty, not '${String(folder)}'.`,
  );
}

function unreadableFolder(folder: string, cause: unknown): QuiverError {
  return new QuiverError('FOLDER_UNREADABLE', `The folder ${folder} cannot be read: ${toErrorMessage(cause)}`, {
    cause,
  });
}
