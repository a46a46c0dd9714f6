import { getDefaultLogger, isQuiverError, toErrorMessage } from '@quiver/core';
import {
  booleanValue,
  checkOptions,
  functionValue,
  oneOf,
  valueThat,
  wholeNumber,
  type OptionChecks,
} from '@quiver/core/options';
import type { MDocument } from '@quiver/rag/document';
import { toSkippedFile, type SkipReason } from '../formats/document-loader.js';
import { loadBytes, readChecks, type LoadDocumentOptions } from '../load-document.js';
import type { PageContent } from '../formats/web-page.js';
import { requireItems, runAhead } from '@quiver/core/async-items';
import {
  createPageClient,
  pageRequestChecks,
  pageSettings,
  parsePageUrl,
  requestFailed,
  type PageCheck,
  type PageClient,
  type PageRequestOptions,
} from './page-client.js';
import type { PageState } from './page-state.js';
import { createRobotsCheck } from './robots.js';

/**
 * Reason for which a page was not loaded. `unchanged`: the server compared its validators. `gone`: status 404 or 410. `disallowed`: by
 * `robots.txt`, or a private address.
 */
export type PageSkipReason = SkipReason | 'unchanged' | 'gone' | 'disallowed';

/** A page that was not loaded. */
export interface SkippedPage {
  url: string;
  reason: PageSkipReason;
  error?: unknown;
}

/** Progress of `loadPages()`. */
export interface PageProgress {
  loaded: number;
  unchanged: number;
  /** Number of other pages that were not loaded. */
  skipped: number;
  /** Number of URLs; present when `urls` has a length or a size, such as an array and a `Set`. */
  total?: number;
  url: string;
}

/** Options of `loadPages()`. */
export interface LoadPagesOptions
  extends PageRequestOptions, Pick<LoadDocumentOptions, 'metadata' | 'ocr' | 'groupSize' | 'maxMemoryMb'> {
  /** Validators of earlier runs, which this run updates. Unchanged pages cost a response without a body, and are not returned. */
  state?: PageState;
  /** Part of HTML pages to read. Default `main`. */
  content?: PageContent;
  /** Time that reading a page may take after it has arrived, in milliseconds, without the calls of `ocr`. Default 60,000. */
  parseTimeout?: number;
  /** Number of pages that are loaded at a time. Default 4. */
  concurrency?: number;
  /** Whether `robots.txt` is respected. Default `true`. */
  robots?: boolean;
  onProgress?: (progress: PageProgress) => void;
  /** Called for every page that is not loaded. Default: a line in the log. */
  onSkip?: (page: SkippedPage) => void;
}

const checks: OptionChecks<LoadPagesOptions> = {
  state: valueThat((value) => value instanceof Map, 'the state of pages, a Map'),
  content: oneOf('main', 'all'),
  parseTimeout: wholeNumber(1),
  maxMemoryMb: wholeNumber(1),
  concurrency: wholeNumber(1),
  robots: booleanValue,
  onProgress: functionValue,
  onSkip: functionValue,
  metadata: readChecks.metadata,
  ocr: readChecks.ocr,
  groupSize: readChecks.groupSize,
  ...pageRequestChecks,
};

const defaultConcurrency = 4;

/**
 * Loads pages of the web in the order of their URLs: the main content of HTML as Markdown with absolute links, and every other format of
 * `loadDocument()`. Each has its URL as `metadata.source`, which is the canonical one if it is on the same origin, and its `title`. A
 * page that cannot be loaded does not affect the others.
 *
 * Only public addresses are requested, unless `allowPrivateAddresses` is set: names are checked after they are resolved, and again for
 * every redirect.
 *
 * @throws `PAGE_OPTIONS_INVALID`, also for one URL in place of a list; `DOCUMENT_WORKER_UNAVAILABLE`, as `loadDocument()`; the abort reason; errors of `urls`
 * @example
 * const state = await readPageState('pages.json');
 * await ingest({ documents: loadPages(urls, { state }), store, indexName, embedder });
 * await writePageState('pages.json', state);
 */
export async function* loadPages(
  urls: Iterable<string | URL> | AsyncIterable<string | URL>,
  options: LoadPagesOptions = {},
): AsyncGenerator<MDocument> {
  checkOptions('loadPages', options, checks, pageSettings);
  requireItems('loadPages', 'urls', urls, pageSettings);
  const { concurrency = defaultConcurrency, onProgress, onSkip = log, signal, state } = options;
  const client = await createPageClient(options);
  const check = (options.robots ?? true) ? createRobotsCheck(client, options.userAgent ?? 'quiver') : undefined;
  const counts = { loaded: 0, unchanged: 0, skipped: 0, ...totalOf(urls) };
  try {
    const pages = runAhead(
      urls,
      concurrency,
      (url, runSignal) => loadPage(String(url), { client, check, options, signal: runSignal }),
      signal,
    );
    for await (const { url, page, record, skipped } of pages) {
      if (skipped) {
        counts[skipped.reason === 'unchanged' ? 'unchanged' : 'skipped'] += 1;
        // A page that is gone has no validators; one that failed keeps them.
        if (skipped.reason === 'gone') state?.delete(url);
        onSkip(skipped);
      } else counts.loaded += 1;
      onProgress?.({ ...counts, url });
      if (page) yield* page;
      if (record) state?.set(url, record);
    }
  } finally {
    client.close();
  }
}

function totalOf(urls: object): { total?: number } {
  const { length, size } = urls as { length?: unknown; size?: unknown };
  const total = length ?? size;
  return typeof total === 'number' ? { total } : {};
}

interface LoadedPage {
  readonly url: string;
  readonly page?: MDocument[];
  readonly record?: { etag?: string; lastModified?: string };
  readonly skipped?: SkippedPage;
}

interface PageContext {
  readonly client: PageClient;
  readonly check: PageCheck | undefined;
  readonly options: LoadPagesOptions;
  readonly signal: AbortSignal;
}

async function loadPage(given: string, { client, check, options, signal }: PageContext): Promise<LoadedPage> {
  let url = given;
  try {
    url = parsePageUrl(given).href;
    const known = options.state?.get(url);
    const headers = {
      ...(known?.etag !== undefined && { 'if-none-match': known.etag }),
      ...(known?.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
    };
    const { status, bytes, url: target, ...response } = await client.get(url, { headers, check, signal });
    if (status === 304 && known) return { url, skipped: { url, reason: 'unchanged' } };
    if (status === 404 || status === 410) return { url, skipped: { url, reason: 'gone' } };
    if (status !== 200) throw requestFailed(url, `status ${status}`, undefined, status);
    let isComplete = true;
    const onSkip = (part: SkippedPage): void => {
      if (part.error !== undefined) isComplete = false;
      (options.onSkip ?? log)(part);
    };
    const type = response.headers['content-type'] ?? '';
    const page = await toDocuments(bytes, { url: target, type, onSkip, signal }, options);
    const { etag, 'last-modified': lastModified } = response.headers;
    // Without validators, the next run repeats what failed, such as the recognition of a scanned page.
    const record = isComplete ? { ...(etag && { etag }), ...(lastModified && { lastModified }) } : {};
    return { url, page, record };
  } catch (error) {
    signal.throwIfAborted();
    // Every other page would fail as well.
    if (isQuiverError(error, 'DOCUMENT_WORKER_UNAVAILABLE')) throw error;
    const isDisallowed = isQuiverError(error) && disallowed.has(error.code);
    const { reason } = toSkippedFile(url, error);
    return { url, skipped: { url, reason: isDisallowed ? 'disallowed' : reason, error } };
  }
}

const disallowed: ReadonlySet<string> = new Set(['PAGE_DISALLOWED', 'PAGE_ADDRESS_PRIVATE']);

interface PageFile {
  readonly url: string;
  /** Value of `Content-Type`. */
  readonly type: string;
  readonly onSkip: (page: SkippedPage) => void;
  readonly signal: AbortSignal;
}

function toDocuments(
  bytes: Uint8Array,
  { url, type, onSkip, signal }: PageFile,
  { content = 'main', parseTimeout: timeout, metadata, ocr, groupSize, maxSize, maxMemoryMb }: LoadPagesOptions,
): Promise<MDocument[]> {
  const [mediaType = '', ...parameters] = type.toLowerCase().split(';');
  const encoding = /charset\s*=\s*["']?([\w.:-]+)/.exec(parameters.join(';'))?.[1];
  const isPage = /^\s*(?:text\/html|application\/xhtml\+xml)\s*$/.test(mediaType);
  return loadBytes(bytes, {
    name: url,
    mediaType,
    isOwned: true,
    page: isPage ? content : undefined,
    onSkip: ({ path, ...skipped }) => onSkip({ url: path, ...skipped }),
    signal,
    encoding,
    metadata,
    ocr,
    groupSize,
    maxSize,
    timeout,
    maxMemoryMb,
  });
}

/** Pages that did not change are common: they are no reason for a warning. */
function log({ url, reason, error }: SkippedPage): void {
  if (reason === 'unchanged') return;
  getDefaultLogger().warn(
    `${url} was not loaded: ${reason}${error === undefined ? '' : ` (${toErrorMessage(error)})`}`,
  );
}
