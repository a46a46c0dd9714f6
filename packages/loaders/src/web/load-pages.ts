import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import {
  booleanValue,
  checkOptions,
  functionValue,
  oneOf,
  type OptionChecks,
  requireItems,
  runAhead,
  valueThat,
  wholeNumber,
} from '@quiver/core/internal';
import { MDocument } from '@quiver/rag/document';
import { readChecks } from '../load-document.js';
import { loadPage, type LoadPageContext, type ReadPageOptions, type SkippedPage } from './load-page.js';
import { createPageClient, pageRequestChecks, type PageRequestOptions } from './page-client.js';
import { createRobotsCheck } from './robots.js';

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
export interface LoadPagesOptions extends PageRequestOptions, ReadPageOptions {
  /** Number of pages that are loaded at a time. Default 4. */
  concurrency?: number;
  /** Whether `robots.txt` is respected. Default `true`. */
  robots?: boolean;
  /** Called after each URL. */
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
 * @throws `OPTIONS_INVALID`, also for one URL in place of a list; `DOCUMENT_WORKER_UNAVAILABLE`, as `loadDocument()`; the abort reason; errors of `urls`
 * @example
 * const state = await readPageState('pages.jsonl');
 * await ingest({ documents: loadPages(urls, { state }), vectorStore, indexName, model });
 * await writePageState('pages.jsonl', state);
 */
export async function* loadPages(
  urls: Iterable<string | URL> | AsyncIterable<string | URL>,
  options: LoadPagesOptions = {},
): AsyncGenerator<MDocument> {
  checkOptions('loadPages', options, checks);
  requireItems('loadPages', 'urls', urls);
  const { concurrency = defaultConcurrency, onProgress, onSkip = log, signal, state } = options;
  const client = await createPageClient(options);
  const check = (options.robots ?? true) ? createRobotsCheck(client, options.userAgent ?? 'quiver') : undefined;
  const owners = new Map<string, LoadPageContext>();
  const counts = { loaded: 0, unchanged: 0, skipped: 0, ...totalOf(urls) };
  try {
    const pages = runAhead(
      urls,
      concurrency,
      (url, runSignal) => loadPage(String(url), { client, check, owners, options, onSkip, signal: runSignal }),
      signal,
    );
    for await (const { url, documents, record, unfinished, skipped } of pages) {
      if (record) await state?.save?.(url, unfinished ? { ...record, unfinished } : {});
      if (skipped) {
        counts[skipped.reason === 'unchanged' ? 'unchanged' : 'skipped'] += 1;
        // A page that is gone has no validators; one that failed keeps them.
        if (skipped.reason === 'gone') state?.delete(url);
        onSkip(skipped);
      } else counts.loaded += 1;
      onProgress?.({ ...counts, url });
      for (const document of documents ?? []) yield new MDocument(document);
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

/** Pages that did not change, and links to the same page, are common: they are no reason for a warning. */
function log({ url, reason, error }: SkippedPage): void {
  if (reason === 'unchanged' || reason === 'duplicate') return;
  getDefaultLogger().warn(
    `${url} was not loaded: ${reason}${error === undefined ? '' : ` (${toErrorMessage(error)})`}`,
  );
}
