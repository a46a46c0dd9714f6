import { createHash } from 'node:crypto';
import { isQuiverError } from '@quiver/core';
import { toSkippedFile, type LoadedDocument, type PageContent, type SkipReason } from '../formats/document-loader.js';
import { readBytes, type LoadDocumentOptions } from '../load-document.js';
import {
  parsePageUrl,
  requestFailed,
  type PageCheck,
  type PageClient,
  type PageRequestOptions,
  type PageResponse,
} from './page-client.js';
import type { PageRecord, PageState, UnfinishedPage } from './page-state.js';

/**
 * Reason for which a page was not loaded. `unchanged`: by its validators, or by its content. `duplicate`: the URL, or the one that it
 * redirects to, is loaded by this run already. `gone`: status 404 or 410. `disallowed`: by `robots.txt`, or a private address.
 */
export type PageSkipReason = SkipReason | 'unchanged' | 'duplicate' | 'gone' | 'disallowed';

/** A page that was not loaded. */
export interface SkippedPage {
  url: string;
  reason: PageSkipReason;
  error?: unknown;
}

/** Options of the reading of one page. */
export interface ReadPageOptions extends Pick<
  LoadDocumentOptions,
  'metadata' | 'ocr' | 'groupSize' | 'maxMemoryMb' | 'maxFileSize'
> {
  /**
   * Validators of earlier runs, which this run updates. Unchanged pages are not returned. The state of `readPageState()` also writes each page
   * to its file before it is returned: after an interrupted run, the next one continues without requests for these pages.
   */
  state?: PageState;
  /** Part of HTML pages to read. Default `main`. */
  content?: PageContent;
  /** Time that reading a page may take after it has arrived, in milliseconds, without the calls of `ocr`. Default 60,000. */
  parseTimeout?: number;
}

/** A page, or the reason for which it was not loaded. */
export interface LoadedPage {
  readonly url: string;
  readonly documents?: readonly LoadedDocument[];
  readonly skipped?: SkippedPage;
  /** Validators of the page, to be kept when its documents are stored. */
  readonly record?: PageRecord;
  /** State for the next run, if this one does not end. Missing for a page with a long text: it is requested again. */
  readonly unfinished?: UnfinishedPage;
}

export interface LoadPageContext {
  readonly client: PageClient;
  /** Check of URLs by `robots.txt`. */
  readonly check: PageCheck | undefined;
  /** Loaders of the pages of this run, by their URLs: redirects lead several calls to one page. */
  readonly owners: Map<string, LoadPageContext>;
  readonly options: ReadPageOptions & Pick<PageRequestOptions, 'headers'>;
  /** Called for parts of a page. */
  readonly onSkip: (part: SkippedPage) => void;
  readonly signal: AbortSignal;
}

/** Milliseconds after which a page of an interrupted run is requested again. */
const maxAge = 86_400_000;
/** Length up to which the texts of a page are kept for the next run, in UTF-16 code units. */
const maxKeptLength = 1_000_000;

/**
 * Loads a page, unless the state has it, or another call of this run.
 *
 * @param context - a separate object for each call
 */
export async function loadPage(given: string, context: LoadPageContext): Promise<LoadedPage> {
  const { owners, options, signal } = context;
  let url = given;
  try {
    url = parsePageUrl(given).href;
    if (!claim(url, context)) return { url, skipped: { url, reason: 'duplicate' } };
    const known = options.state?.get(url);
    return continuePage(url, known, context) ?? (await requestPage(url, known, context));
  } catch (error) {
    // The page may be loaded by another URL.
    for (const [target, owner] of owners) if (owner === context) owners.delete(target);
    signal.throwIfAborted();
    // Every other page would fail as well.
    if (isQuiverError(error, 'DOCUMENT_WORKER_UNAVAILABLE')) throw error;
    const isDisallowed = isQuiverError(error) && disallowed.has(error.code);
    const { reason } = toSkippedFile(url, error);
    return { url, skipped: { url, reason: isDisallowed ? 'disallowed' : reason, error } };
  }
}

const disallowed: ReadonlySet<string> = new Set(['PAGE_DISALLOWED', 'PAGE_ADDRESS_PRIVATE']);

/** Returns whether a page is loaded by this call, and by no other one. */
function claim(target: string, context: LoadPageContext): boolean {
  const owner = context.owners.get(target) ?? context;
  context.owners.set(target, owner);
  return owner === context;
}

/** Returns what an interrupted run found a short time ago. */
function continuePage(
  url: string,
  { unfinished, ...record }: PageRecord = {},
  context: LoadPageContext,
): LoadedPage | undefined {
  if (unfinished === undefined || Date.now() - unfinished.time > maxAge) return undefined;
  const { target = url, documents } = unfinished;
  if (!claim(target, context)) return { url, skipped: { url, reason: 'duplicate' } };
  return documents
    ? { url, documents, record, unfinished }
    : { url, record, unfinished, skipped: { url, reason: 'unchanged' } };
}

async function requestPage(url: string, known: PageRecord | undefined, context: LoadPageContext): Promise<LoadedPage> {
  const { client, check, options, onSkip, signal } = context;
  let isDuplicate = false;
  const checkTarget: PageCheck = async (target, hasHeaders) => {
    // Without the headers, the page may be another one.
    isDuplicate = (hasHeaders || options.headers === undefined) && !claim(target.href, context);
    if (isDuplicate) throw new Error('the page is loaded by another URL');
    await check?.(target, hasHeaders);
  };
  const headers = {
    ...(known?.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known?.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  };
  const response = await client.get(url, { headers, check: checkTarget, signal }).catch((error: unknown) => {
    if (!isDuplicate) throw error;
  });
  if (response === undefined) return { url, skipped: { url, reason: 'duplicate' } };
  const { status, url: target } = response;
  const isSame = status === 304 && known !== undefined;
  if (status === 404 || status === 410) return { url, skipped: { url, reason: 'gone' } };
  if (status !== 200 && !isSame) throw requestFailed(url, `status ${status}`, undefined, status);
  const found = { time: Date.now(), ...(target !== url && { target }) };
  const record = isSame ? withoutRun(known) : toRecord(response);
  if (isSame || record.hash === known?.hash) {
    const documents = known?.unfinished?.documents;
    if (documents) return { url, documents, record, unfinished: { ...found, documents } };
    return { url, record, unfinished: found, skipped: { url, reason: 'unchanged' } };
  }
  let isComplete = true;
  const documents = await readPage(response, options, signal, (part) => {
    if (part.error !== undefined) isComplete = false;
    onSkip(part);
  });
  // Without validators, the next run repeats what failed, such as the recognition of a scanned page.
  return lengthOf(documents) > maxKeptLength
    ? { url, documents, record: isComplete ? record : {} }
    : { url, documents, record: isComplete ? record : {}, unfinished: { ...found, documents } };
}

function withoutRun({ unfinished: _unfinished, ...record }: PageRecord): PageRecord {
  return record;
}

function toRecord({ bytes, headers }: PageResponse): PageRecord {
  const { etag, 'last-modified': lastModified, 'content-type': type = '' } = headers;
  const hash = createHash('sha256').update(`${type}\n`).update(bytes).digest('base64url');
  return { ...(etag && { etag }), ...(lastModified && { lastModified }), hash };
}

const lengthOf = (documents: readonly LoadedDocument[]): number =>
  documents.reduce((sum, { docs }) => docs.reduce((length, { text }) => length + text.length, sum), 0);

function readPage(
  { bytes, url, headers }: PageResponse,
  { content, parseTimeout: timeout, ...options }: ReadPageOptions,
  signal: AbortSignal,
  onSkip: (part: SkippedPage) => void,
): Promise<LoadedDocument[]> {
  const { metadata, ocr, groupSize, maxFileSize, maxMemoryMb } = options;
  const [mediaType = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const encoding = /charset\s*=\s*["']?([\w.:-]+)/.exec(parameters.join(';'))?.[1];
  return readBytes(bytes, {
    name: url,
    mediaType,
    isOwned: true,
    content,
    onSkip: ({ path, ...skipped }) => onSkip({ url: path, ...skipped }),
    signal,
    encoding,
    metadata,
    ocr,
    groupSize,
    maxFileSize,
    timeout,
    maxMemoryMb,
  });
}
