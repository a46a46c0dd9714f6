import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { createAddressGuard, type OptionChecks, signalValue, stringValue, wholeNumber } from '@quiver/core/internal';
import { tooLargeDocument } from '../formats/document-loader.js';
import { defaultMaxSize } from '../load-document.js';
import { allowedAddresses, createAddressCheck } from './address-check.js';

/** Options of requests for pages. */
export interface PageRequestOptions {
  /** Headers of every request. Redirects to another origin are requested without them. */
  headers?: Readonly<Record<string, string>>;
  /** Product name that rules in `robots.txt` are compared with, sent as `User-Agent`. Default `quiver`. */
  userAgent?: string;
  /** Maximum size of a page in bytes, after decompression. Default 20 MB. */
  maxFileSize?: number;
  /** Milliseconds within which a page must have arrived, with its redirects and without waits for `delay`. Default 30,000. */
  requestTimeout?: number;
  /** Least number of milliseconds between two requests to a host. Default 0. */
  delay?: number;
  /**
   * Private and loopback addresses that may be requested: those of a list of host names, IP addresses and networks, such as
   * `['wiki.intern', '10.1.0.0/16']`, or all. Link-local addresses and those of the metadata services of clouds never are. Default
   * `false`: a page that comes from elsewhere, or its redirect, could read what only this host reaches.
   */
  allowPrivateAddresses?: boolean | readonly string[];
  /** Aborts the requests. */
  signal?: AbortSignal;
}

/** Longest time that a timer can wait for, in milliseconds. */
const maxTimerDelay = 2_147_483_647;

/** Checks of {@link PageRequestOptions}. */
export const pageRequestChecks: OptionChecks<PageRequestOptions> = {
  // The values may be secrets.
  headers: (value, option) => (isHeaders(value) ? undefined : `'${option}' must be an object of strings by name.`),
  userAgent: stringValue,
  maxFileSize: wholeNumber(1),
  requestTimeout: wholeNumber(1, maxTimerDelay),
  delay: wholeNumber(0, maxTimerDelay),
  allowPrivateAddresses: allowedAddresses,
  signal: signalValue,
};

/** Instances of `Headers` and `Map` have their values elsewhere, and would be sent without them. */
function isHeaders(value: unknown): boolean {
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    Object.values(value as object).every((item) => typeof item === 'string')
  );
}

/** A response with its whole body, decompressed. */
export interface PageResponse {
  /** URL after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
}

/** Settings of one request. */
export interface PageCall {
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with every URL before the request, and whether it receives {@link PageRequestOptions.headers}; throws to prevent it. */
  readonly check?: PageCheck | undefined;
  /** Whether the request is sent without {@link PageRequestOptions.headers}. Default `false`. */
  readonly isForeign?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export type PageCheck = (url: URL, hasHeaders: boolean) => Promise<void>;

/** Sends requests for pages within the limits of {@link PageRequestOptions}. */
export interface PageClient {
  /**
   * Requests a page and follows at most five redirects.
   *
   * @throws `PAGE_URL_INVALID`; `PAGE_ADDRESS_PRIVATE`; `PAGE_REQUEST_FAILED`; `DOCUMENT_TOO_LARGE`; the abort reason
   */
  get(url: string, call?: PageCall): Promise<PageResponse>;
  /** Closes the connections. */
  close(): void;
}

const defaultTimeout = 30_000;
const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export async function createPageClient(options: PageRequestOptions): Promise<PageClient> {
  // Loaded with the first use, because importing `node:http` costs 70 ms.
  const [http, https] = await Promise.all([import('node:http'), import('node:https')]);
  const { userAgent = 'quiver', maxFileSize = defaultMaxSize, requestTimeout = defaultTimeout, delay = 0 } = options;
  const requireAllowed = createAddressCheck(options.allowPrivateAddresses ?? false);
  const { lookup } = createAddressGuard(requireAllowed);
  const httpAgent = new http.Agent({ keepAlive: true, lookup });
  const httpsAgent = new https.Agent({ keepAlive: true, lookup });
  /** Times of the next request by host. */
  const nextRequests = new Map<string, number>();

  async function waitForTurn(host: string, signal: AbortSignal | undefined): Promise<void> {
    if (delay <= 0) return;
    const now = Date.now();
    const start = Math.max(now, nextRequests.get(host) ?? 0);
    nextRequests.set(host, start + delay);
    if (start > now) await sleep(start - now, undefined, { ...(signal && { signal }) });
  }

  async function send(url: URL, headers: Record<string, string>, until: AbortSignal): Promise<PageResponse> {
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    // Only names are looked up.
    if (isIP(literal) > 0) requireAllowed(literal, literal);
    const isSecure = url.protocol === 'https:';
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = (isSecure ? https : http).request(url, {
        agent: isSecure ? httpsAgent : httpAgent,
        headers: { accept: '*/*', 'accept-encoding': 'gzip, deflate, br', 'user-agent': userAgent, ...headers },
        signal: until,
      });
      request.on('response', resolve).on('error', reject);
      request.on('close', () => reject(new Error('the connection was closed without a response')));
      request.end();
    });
    const bytes = await readBody(message, url.href, maxFileSize, until);
    return { url: url.href, status: message.statusCode ?? 0, headers: message.headers, bytes };
  }

  return {
    async get(first, { headers, check, isForeign = false, signal = options.signal } = {}) {
      signal?.throwIfAborted();
      let timer: AbortSignal | undefined;
      let left = requestTimeout;
      let url = parsePageUrl(first);
      const { origin } = url;
      try {
        for (let count = 0; ; count++) {
          const hasHeaders = !isForeign && url.origin === origin;
          await check?.(url, hasHeaders);
          await waitForTurn(url.host, signal);
          const started = performance.now();
          timer = AbortSignal.timeout(Math.max(1, Math.ceil(left)));
          const until = signal ? AbortSignal.any([signal, timer]) : timer;
          const response = await send(url, { ...(hasHeaders && options.headers), ...headers }, until);
          left -= performance.now() - started;
          const { location } = response.headers;
          if (!redirects.has(response.status) || location === undefined) return response;
          if (count === maxRedirects) throw new Error(`more than ${maxRedirects} redirects`);
          url = parsePageUrl(location, url);
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (isQuiverError(error)) throw error;
        const problem = timer?.aborted ? `no complete response within ${requestTimeout} ms` : toErrorMessage(error);
        throw requestFailed(first, problem, error);
      }
    },
    close() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

export function requestFailed(url: string, problem: string, cause?: unknown, status?: number): QuiverError {
  return new QuiverError('PAGE_REQUEST_FAILED', `${url} could not be loaded: ${problem}.`, {
    cause,
    details: { url, ...(status !== undefined && { status }) },
  });
}

/** @throws `PAGE_URL_INVALID` for a URL that is not http or https, or contains credentials */
export function parsePageUrl(text: string, base?: URL): URL {
  const refuse = (problem: string): QuiverError => {
    const url = text.replace(/^([\w+.-]*:)?[\\/]*[^\\/?#]*@/, '$1//').slice(0, 200);
    return new QuiverError('PAGE_URL_INVALID', `'${url}' ${problem}. Pass an absolute http or https URL.`);
  };
  if (!URL.canParse(text, base?.href)) throw refuse('is not a URL');
  const url = new URL(text, base);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('is not the URL of a page');
  if (url.username !== '' || url.password !== '') throw refuse('contains credentials');
  url.hash = '';
  return url;
}

async function readBody(
  message: IncomingMessage,
  url: string,
  maxFileSize: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxFileSize) throw tooLargeDocument(url, `it has more than ${maxFileSize} bytes`);
      chunks.push(chunk);
    }
  };
  const decoder = createDecoder(message.headers['content-encoding']);
  if (decoder) await pipeline(message, decoder, collect, { signal });
  else await pipeline(message, collect, { signal });
  return Buffer.concat(chunks);
}

function createDecoder(encoding = 'identity'): ReturnType<typeof createGunzip> | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'identity':
    case '':
      return undefined;
    default:
      throw new Error(`the response is encoded as ${encoding}, which was not requested`);
  }
}
