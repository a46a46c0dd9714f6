import { gunzipSync } from 'node:zlib';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { checkOptions, functionValue, type OptionChecks, wholeNumber } from '@quiver/core/internal';
import { Parser } from 'htmlparser2';
import {
  createPageClient,
  pageRequestChecks,
  parsePageUrl,
  requestFailed,
  type PageClient,
  type PageRequestOptions,
} from './page-client.js';

/** Options of `readSitemap()`. */
export interface ReadSitemapOptions extends PageRequestOptions {
  /** Maximum number of URLs. Default 50,000, which is the limit of one sitemap. */
  maxUrls?: number;
  /** Called for every sitemap of an index that could not be read, and every URL of another host. Default: nothing. */
  onSkip?: (skipped: { url: string; error: unknown }) => void;
}

const checks: OptionChecks<ReadSitemapOptions> = {
  maxUrls: wholeNumber(1),
  onSkip: functionValue,
  ...pageRequestChecks,
};

/** The parser takes quadratic time for deep nesting; a sitemap has three levels. */
const maxNesting = 100;

const defaultMaxUrls = 50_000;
/** Size of a sitemap by the protocol, in bytes. */
const maxSitemapSize = 52_428_800;
const maxSitemaps = 1_000;

/**
 * Reads the URLs of a sitemap, of all sitemaps of an index, or of a list with one URL on each line, also compressed by gzip. URLs of
 * other hosts than the sitemap's, before and after redirects, are left out: a sitemap speaks for its own host only.
 *
 * @throws `OPTIONS_INVALID`; `SITEMAP_INVALID` for a file without URLs of its host; the errors of requests, for the first file
 * @see [Sitemaps XML format](https://www.sitemaps.org/protocol.html)
 * @example
 * const pages = loadPages(readSitemap('https://docs.example.com/sitemap.xml'));
 */
export async function* readSitemap(url: string | URL, options: ReadSitemapOptions = {}): AsyncGenerator<string> {
  checkOptions('readSitemap', options, checks);
  const { maxUrls = defaultMaxUrls, onSkip, ...request } = options;
  const first = parsePageUrl(String(url));
  const client = await createPageClient({ maxFileSize: maxSitemapSize, ...request });
  const waiting = [first.href];
  const seen = new Set(waiting);
  /** `example.com` often redirects to `www.example.com`, whose URLs its sitemap contains. */
  const hosts = new Set([first.hostname]);
  let count = 0;
  try {
    for (let index = 0; index < waiting.length; index++) {
      const sitemap = waiting[index]!;
      let found: SitemapEntry[] = [];
      try {
        const loaded = await loadSitemap(client, sitemap, options.maxFileSize ?? maxSitemapSize);
        found = loaded.entries;
        if (index === 0) hosts.add(new URL(loaded.url).hostname);
      } catch (error) {
        if (index === 0 || request.signal?.aborted) throw error;
        onSkip?.({ url: sitemap, error });
      }
      for (const entry of found) {
        let target: URL;
        try {
          target = parsePageUrl(entry.url, first);
          if (!hosts.has(target.hostname)) throw otherHost(target, first);
        } catch (error) {
          onSkip?.({ url: entry.url, error });
          continue;
        }
        if (seen.has(target.href)) continue;
        seen.add(target.href);
        if (entry.isSitemap && waiting.length < maxSitemaps) waiting.push(target.href);
        else if (!entry.isSitemap) {
          if (++count > maxUrls) return;
          yield target.href;
        }
      }
    }
    if (count === 0) throw invalidSitemap(first.href, `it contains no URLs of ${[...hosts].join(' and ')}`);
  } finally {
    client.close();
  }
}

interface SitemapEntry {
  readonly url: string;
  readonly isSitemap: boolean;
}

async function loadSitemap(
  client: PageClient,
  url: string,
  maxSize: number,
): Promise<{ url: string; entries: SitemapEntry[] }> {
  const { status, bytes, url: target } = await client.get(url);
  if (status !== 200) throw requestFailed(url, `status ${status}`, undefined, status);
  try {
    const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const text = new TextDecoder().decode(isCompressed ? gunzipSync(bytes, { maxOutputLength: maxSize }) : bytes);
    const entries = parseSitemap(text);
    if (entries.length > 0) return { url: target, entries };
  } catch (cause) {
    throw invalidSitemap(url, toErrorMessage(cause), cause);
  }
  throw invalidSitemap(url, 'it contains no URLs');
}

function invalidSitemap(url: string, problem: string, cause?: unknown): QuiverError {
  return new QuiverError(
    'SITEMAP_INVALID',
    `${url} is not a sitemap: ${problem}. Check the URL, or pass a list of URLs.`,
    {
      cause,
      details: { url },
    },
  );
}

function otherHost(url: URL, sitemap: URL): QuiverError {
  return new QuiverError('SITEMAP_INVALID', `${url.href} is not on ${sitemap.hostname}, the host of its sitemap.`);
}

function parseSitemap(text: string): SitemapEntry[] {
  if (!text.trimStart().startsWith('<')) {
    const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
    return lines.filter((line) => /^https?:/i.test(line)).map((url) => ({ url, isSitemap: false }));
  }
  const entries: SitemapEntry[] = [];
  let parent = '';
  let depth = 0;
  let location: string[] | undefined;
  const parser = new Parser(
    {
      onopentagname(name) {
        depth += 1;
        if (depth > maxNesting) throw new Error(`its elements are nested more than ${maxNesting} deep`);
        if (name === 'url' || name === 'sitemap') parent = name;
        else if (name === 'loc' && parent !== '') location = [];
      },
      ontext: (data) => location?.push(data),
      onclosetag(name) {
        depth -= 1;
        if (name === parent) parent = '';
        if (name !== 'loc' || !location) return;
        entries.push({ url: location.join('').trim(), isSitemap: parent === 'sitemap' });
        location = undefined;
      },
    },
    { xmlMode: true },
  );
  parser.end(text);
  return entries;
}
